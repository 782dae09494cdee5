/** `GET /.well-known/jwks.json`: the public keys with which other services verify tokens. */
import { PublicKeySet } from "@latchkey/contracts";
import { userOperation } from "../../http/operation.ts";

/** Clients cache the keys for this time. A new key must be published this long before it signs tokens (`docs/keys.md`). */
const MAX_AGE_SECONDS = 300;

const operation = userOperation({ tag: "Keys" });

export const keyOperations = (publicKeySet: PublicKeySet) => [
  operation({
    id: "getJwks",
    method: "GET",
    path: "/.well-known/jwks.json",
    summary: "Read the public keys that verify tokens",
    description:
      "A JSON Web Key Set (RFC 7517). Verify a token with the key whose `kid` is in the token's header, and only with that key's `alg`; request the set again if it does not contain the `kid`. During a key rotation, the set also contains the next or the previous key. The keys do not show that a token has been revoked, or that its user has been deactivated or deleted: read `GET /auth/me`, or follow the account events.",
    success: {
      status: 200,
      description: "The public keys. Can be cached for 300 seconds.",
      schema: PublicKeySet,
    },
    isStatic: true,
    handler(_input, { response }) {
      response.headers["cache-control"] = `public, max-age=${MAX_AGE_SECONDS}`;
      return publicKeySet;
    },
  }),
];
