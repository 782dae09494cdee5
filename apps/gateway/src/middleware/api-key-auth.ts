/**
 * Authenticates all requests of the administration by API key, before anything else is read: without a key, a client learns not even
 * which paths exist. Invariants: the time of a comparison does not depend on the keys, and a right key is never limited, however
 * many wrong ones its client address has sent. A restricted key gets 403 for whatever it does not allow, also for unknown paths.
 * The first wrong key of a client in a minute is logged, the others are only counted.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import type { Operator } from "@latchkey/administration";
import { Elysia } from "elysia";
import type { AdministrationKey, KeyScope } from "../config.ts";
import { type RequestEntry, requestEntry } from "../elysia/request-entry.ts";
import { ServiceError } from "../errors.ts";
import type { Operation } from "../http/operation.ts";
import { secondsUntil } from "../rate-limit/clock.ts";
import { WRONG_API_KEYS } from "../rate-limit/limits.ts";
import type { Store } from "../rate-limit/store.ts";
import { clientKey } from "./client-address.ts";
import type { Authenticate } from "./operations.ts";

/** Bearer credentials (RFC 6750 §2.1). The scheme is case-insensitive (RFC 9110 §11.1). */
const BEARER = /^bearer +([\w-]+) *$/i;

const digestOf = (text: string): Buffer => createHash("sha256").update(text).digest();

interface ApiKeyAuthOptions {
  readonly keys: readonly AdministrationKey[];
  readonly operations: readonly Pick<Operation<unknown>, "method" | "path" | "openTo">[];
  /** Counts the wrong keys. */
  readonly store: Store;
}

interface FoundKey {
  readonly name: string;
  readonly scope: KeyScope;
}

export function apiKeyAuth({ keys, operations, store }: ApiKeyAuthOptions) {
  const digests = keys.map(({ name, scope, key }) => ({ name, scope, digest: digestOf(key) }));
  const wrongKeys = store.fixedWindow(WRONG_API_KEYS);
  const isAllowed = createKeyRule(operations);

  /** Returns the name and the scope of the key, or null. Compares all keys. */
  const findKey = (key: string): FoundKey | null => {
    const given = digestOf(key);
    let found: FoundKey | null = null;
    for (const known of digests) if (timingSafeEqual(known.digest, given)) found ??= known;
    return found;
  };

  return new Elysia({ name: "api-key-auth" })
    .use(requestEntry())
    .onRequest(async ({ clientAddress, entry, request }) => {
      const credentials = request.headers.get("authorization");
      // A request without a key is not an attempt to guess one.
      if (credentials === null) throw new ServiceError("INVALID_API_KEY");
      const found = findKey(BEARER.exec(credentials)?.[1] ?? "");
      if (found !== null) {
        entry.actor = `admin:${found.name}`;
        if (!isAllowed(found.scope, entry)) throw new ServiceError("KEY_NOT_ALLOWED");
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

/** Whether a key allows a request. The path is compared as the client sent it, so another spelling of a route is not allowed. */
function createKeyRule(operations: ApiKeyAuthOptions["operations"]) {
  const open = operations.flatMap(({ method, path, openTo }) => {
    const pattern = new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}$`);
    return openTo ? [{ method, pattern, openTo }] : [];
  });
  return (scope: KeyScope, { method, matchedPath }: Pick<RequestEntry, "method" | "matchedPath">): boolean =>
    scope === "all" ||
    open.some(
      (operation) =>
        operation.method === (method === "HEAD" ? "GET" : method) &&
        operation.openTo.includes(scope) &&
        operation.pattern.test(matchedPath),
    );
}

/** The operator whose key the request has. `apiKeyAuth` has rejected all other requests. */
export const operatorOf: Authenticate<Operator> = async ({ entry: { actor, requestId } }) => {
  if (actor === undefined) throw new ServiceError("INVALID_API_KEY");
  return { actor, request_id: requestId };
};
