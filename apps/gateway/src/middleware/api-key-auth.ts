/**
 * Authenticates all requests of the administration by API key, before anything else is read: without a key, a client learns not even
 * which paths exist. Invariants: the time of a comparison does not depend on the keys, and a right key is never limited, however
 * many wrong ones its client address has sent. The first wrong key of a client in a minute is logged, the others are only counted.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import type { Operator } from "@latchkey/administration";
import type { ApiKey } from "@latchkey/config";
import { Elysia } from "elysia";
import { requestEntry } from "../elysia/request-entry.ts";
import { ServiceError } from "../errors.ts";
import { secondsUntil } from "../rate-limit/clock.ts";
import { WRONG_API_KEYS } from "../rate-limit/limits.ts";
import type { Store } from "../rate-limit/store.ts";
import { clientKey } from "./client-address.ts";
import type { Authenticate } from "./operations.ts";

/** Bearer credentials (RFC 6750 §2.1). The scheme is case-insensitive (RFC 9110 §11.1). */
const BEARER = /^bearer +([\w-]+) *$/i;

const digestOf = (text: string): Buffer => createHash("sha256").update(text).digest();

/** @param store counts the wrong keys */
export function apiKeyAuth(keys: readonly ApiKey[], store: Store) {
  const digests = keys.map(({ name, key }) => ({ name, digest: digestOf(key) }));
  const wrongKeys = store.fixedWindow(WRONG_API_KEYS);

  /** Returns the name of the key, or null. Compares all keys. */
  const findName = (key: string): string | null => {
    const given = digestOf(key);
    let found: string | null = null;
    for (const { name, digest } of digests) if (timingSafeEqual(digest, given)) found ??= name;
    return found;
  };

  return new Elysia({ name: "api-key-auth" })
    .use(requestEntry())
    .onRequest(async ({ clientAddress, entry, request }) => {
      const credentials = request.headers.get("authorization");
      // A request without a key is not an attempt to guess one.
      if (credentials === null) throw new ServiceError("INVALID_API_KEY");
      const name = findName(BEARER.exec(credentials)?.[1] ?? "");
      if (name !== null) {
        entry.actor = `admin:${name}`;
        return;
      }
      const { count, resetsAt } = await wrongKeys.increment(clientKey(clientAddress));
      entry.audit = [{ event: "admin.key_rejected", userId: undefined, emailDigest: undefined }];
      entry.isLoggedElsewhere = count > 1;
      if (count <= WRONG_API_KEYS.capacity) throw new ServiceError("INVALID_API_KEY");
      const retryAfterSeconds = secondsUntil(resetsAt);
      throw new ServiceError("TOO_MANY_REQUESTS", { quota: WRONG_API_KEYS.rejection, retryAfterSeconds });
    });
}

/** The operator whose key the request has. `apiKeyAuth` has rejected all other requests. */
export const operatorOf: Authenticate<Operator> = async ({ entry: { actor, requestId } }) => {
  if (actor === undefined) throw new ServiceError("INVALID_API_KEY");
  return { actor, request_id: requestId };
};
