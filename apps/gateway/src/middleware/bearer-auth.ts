/** The gate before protected routes: turns the bearer token into the user, or throws. Runs before the body is validated. */
import type { User } from "@latchkey/database";
import { Elysia } from "elysia";
import { requestContext } from "./request-context.ts";

/** RFC 6750 §2.1 with a JWS in compact form (RFC 7515 §7.1, no padding); any case of the scheme (RFC 9110 §11.1). The header,
 * which is parsed before the signature is verified, has at most 1,024 characters: see `json.ts` for why. */
const BEARER = /^bearer +([\w-]{1,1024}\.[\w-]+\.[\w-]+) *$/i;

/** @param authenticate gets null when there is no well-formed bearer token */
export function authentication(authenticate: (token: string | null) => Promise<User>) {
  return new Elysia({ name: "authentication" })
    .use(requestContext())
    .derive({ as: "scoped" }, async (context) => {
      const credentials = BEARER.exec(context.request.headers.get("authorization") ?? "");
      const user = await authenticate(credentials?.[1] ?? null);
      context.userId = user.id;
      return { user };
    });
}
