/** The auth routes: HTTP only; the rules are in the service. */
import {
  EMAIL_MAX_LENGTH,
  LoginRequest,
  RegisterRequest,
  type Token,
  UpdateUserRequest,
  type User as UserShape,
} from "@latchkey/contracts";
import type { User } from "@latchkey/database";
import { Elysia } from "elysia";
import { bearerAuth } from "../../middleware/bearer-auth.ts";
import { jsonBody } from "../../middleware/body-limit.ts";
import { type RateLimiters, rateLimitRoutes } from "../../middleware/rate-limit.ts";
import { validator } from "../../middleware/validator.ts";
import * as operations from "./operations.ts";
import type { AuthService } from "./service.ts";

export interface AuthRoutesOptions {
  readonly authService: AuthService;
  /** null: rate limits are disabled. */
  readonly limiters: RateLimiters | null;
}

/** Addresses that differ only in case or surrounding whitespace belong to one user. A text that is too long is not lowercased. */
function normalizeEmail(members: Record<string, unknown>): Record<string, unknown> {
  if (typeof members.email !== "string") return members;
  const email = members.email.trim();
  return { ...members, email: email.length > 2 * EMAIL_MAX_LENGTH ? email : email.toLowerCase() };
}

export function authRoutes({ authService, limiters }: AuthRoutesOptions) {
  const register = new Elysia()
    .use(rateLimitRoutes(limiters?.register))
    .model({ RegisterRequest: validator(RegisterRequest, { in: "body", prepare: normalizeEmail }) })
    .post(
      "/auth/register",
      async ({ body, request, set }): Promise<UserShape> => {
        const user = await authService.register(body, request.signal);
        set.status = 201;
        return toShape(user);
      },
      { parse: [jsonBody(RegisterRequest)], body: "RegisterRequest", detail: operations.register },
    );

  const login = new Elysia()
    .use(rateLimitRoutes(limiters?.login))
    .model({ LoginRequest: validator(LoginRequest, { in: "body", prepare: normalizeEmail }) })
    .post(
      "/auth/login",
      async ({ body, request }): Promise<Token> => ({
        access_token: await authService.login(body, request.signal),
        token_type: "bearer",
      }),
      { parse: [jsonBody(LoginRequest)], body: "LoginRequest", detail: operations.login },
    );

  const me = new Elysia()
    .use(bearerAuth(authService.authenticate))
    .model({ UpdateUserRequest: validator(UpdateUserRequest, { in: "body" }) })
    .get("/auth/me", ({ user }): UserShape => toShape(user), { detail: operations.getMe })
    .patch(
      "/auth/me",
      async ({ user, body, request }): Promise<UserShape> =>
        toShape(await authService.update(user, body, request.signal)),
      {
        parse: [jsonBody(UpdateUserRequest)],
        body: "UpdateUserRequest",
        beforeHandle: async ({ user, body, clientAddress, set }) => {
          if (body.password === undefined) return;
          await limiters?.passwordChange.limit({ clientAddress, userId: user.id }, set.headers);
        },
        detail: operations.updateMe,
      },
    )
    .delete(
      "/auth/me",
      async ({ user, set }): Promise<void> => {
        await authService.delete(user);
        set.status = 204;
      },
      { parse: "none", detail: operations.deleteMe },
    );

  return new Elysia({ name: "auth" }).use(register).use(login).use(me);
}

/** Lists each member, so that a new column is never exposed by accident. */
const toShape = (user: User): UserShape => ({
  id: user.id,
  email: user.email,
  username: user.username,
  is_active: user.isActive,
  created_at: user.createdAt,
  updated_at: user.updatedAt,
});
