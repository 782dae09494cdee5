/** Reads the access token of a request, and passes it to the function that authenticates users. */
import type { Authenticate } from "./operations.ts";

/**
 * Bearer credentials (RFC 6750 §2.1) with a compact JWS (RFC 7515 §7.1, no padding). The scheme is case-insensitive (RFC 9110
 * §11.1). The JWS header is limited to 1,024 characters, because it is parsed before the signature is verified (`http/json.ts`
 * explains the risk).
 */
const BEARER = /^bearer +([\w-]{1,1024}\.[\w-]+\.[\w-]+) *$/i;

/**
 * @param authenticate receives null if there is no well-formed bearer token. Calls `onSigned` with the user id of a token whose
 * signature is valid, even if it rejects the token
 */
export const bearerAuth =
  <Principal>(
    authenticate: (
      token: string | null,
      onSigned: (userId: number) => void,
      options: { readonly acceptsIdleToken: boolean },
    ) => Promise<Principal>,
  ): Authenticate<Principal> =>
  ({ request, entry }, { acceptsIdleToken = false }) => {
    const credentials = BEARER.exec(request.headers.get("authorization") ?? "");
    const onSigned = (userId: number) => {
      entry.userId = userId;
    };
    return authenticate(credentials?.[1] ?? null, onSigned, { acceptsIdleToken });
  };
