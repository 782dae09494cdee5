/** The gate before protected routes: turns the bearer token into the user, or throws. Runs before the body is validated. */
import type { User } from "@latchkey/database";
import { Elysia } from "elysia";

/** RFC 6750 §2.1, the scheme without regard to case (RFC 9110 §11.1). */
const BEARER = /^bearer +([\w.~+/-]+=*) *$/i;

/** @param authenticate gets null when there is no well-formed bearer token */
export function authentication(authenticate: (token: string | null) => Promise<User>) {
  return new Elysia({ name: "authentication" }).derive({ as: "scoped" }, async ({ request }) => ({
    user: await authenticate(BEARER.exec(request.headers.get("authorization") ?? "")?.[1] ?? null),
  }));
}
