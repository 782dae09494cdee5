/**
 * Authenticates all requests of the administration by API key, before anything else is read: without a key, a client learns not even
 * which paths exist. The first wrong key of a client in a minute is logged, the others are only counted.
 */
import type { Operator } from "@latchkey/administration";
import { Elysia } from "elysia";
import { requestEntry } from "../elysia/request-entry.ts";
import { ServiceError } from "../errors.ts";
import { clientKey } from "./client-address.ts";
import type { Authenticate } from "./operations.ts";

interface ApiKeyAuthOptions {
  /** Returns the name of a right key. */
  readonly findName: (key: string) => string | null;
  /** Counts a wrong key of a client. */
  readonly reject: (client: string) => Promise<{ readonly error: Error; readonly isFirst: boolean }>;
}

/** Bearer credentials (RFC 6750 §2.1). The scheme is case-insensitive (RFC 9110 §11.1). */
const BEARER = /^bearer +([\w-]+) *$/i;

export function apiKeyAuth({ findName, reject }: ApiKeyAuthOptions) {
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
      const { error, isFirst } = await reject(clientKey(clientAddress));
      entry.audit = { event: "admin.key_rejected", userId: undefined, emailDigest: undefined };
      entry.isLoggedElsewhere = !isFirst;
      throw error;
    });
}

/** The operator whose key the request has. `apiKeyAuth` has rejected all other requests. */
export const operatorOf: Authenticate<Operator> = async ({ entry: { actor, requestId } }) => {
  if (actor === undefined) throw new ServiceError("INVALID_API_KEY");
  return { actor, request_id: requestId };
};
