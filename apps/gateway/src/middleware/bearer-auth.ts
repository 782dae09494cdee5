/**
 * Authenticates requests to protected routes by access token. Runs before the body is validated, and adds `principal` to the
 * context or throws.
 */
import { Elysia } from "elysia";
import { requestContext } from "../elysia/request-context.ts";

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
export function bearerAuth<Principal>(
  authenticate: (token: string | null, onSigned: (userId: number) => void) => Promise<Principal>,
) {
  return new Elysia({ name: "bearer-auth" })
    .use(requestContext())
    .derive({ as: "scoped" }, async (context) => {
      const credentials = BEARER.exec(context.request.headers.get("authorization") ?? "");
      const { entry } = context;
      const principal = await authenticate(credentials?.[1] ?? null, (userId) => {
        entry.userId = userId;
      });
      return { principal };
    });
}
