/** HTTP for accounts: shapes in, shapes out. The rules are in the service. */
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
import { authentication } from "../../middleware/bearer-auth.ts";
import { jsonBody } from "../../middleware/body-limit.ts";
import { type Limit, limitRoute } from "../../middleware/rate-limit.ts";
import { validator } from "../../middleware/validator.ts";
import * as operations from "./operations.ts";
import type { Accounts } from "./service.ts";

export interface AuthRoutesOptions {
  readonly accounts: Accounts;
  /** null: login and register have no quota of their own. */
  readonly limits: { readonly login: Limit; readonly register: Limit } | null;
}

/** Addresses that differ only in case or surrounding spaces are equal. A text that is too long stays as it is. */
function normaliseEmail(members: Record<string, unknown>): Record<string, unknown> {
  if (typeof members.email !== "string") return members;
  const email = members.email.trim();
  return { ...members, email: email.length > 2 * EMAIL_MAX_LENGTH ? email : email.toLowerCase() };
}

export function authRoutes({ accounts, limits }: AuthRoutesOptions) {
  const register = new Elysia()
    .use(limitRoute(limits?.register ?? null))
    .model({ RegisterRequest: validator(RegisterRequest, { in: "body", prepare: normaliseEmail }) })
    .post(
      "/auth/register",
      async ({ body, request, set }): Promise<UserShape> => {
        const user = await accounts.register(body, request.signal);
        set.status = 201;
        return toShape(user);
      },
      { parse: [jsonBody(RegisterRequest)], body: "RegisterRequest", detail: operations.register },
    );

  const login = new Elysia()
    .use(limitRoute(limits?.login ?? null))
    .model({ LoginRequest: validator(LoginRequest, { in: "body", prepare: normaliseEmail }) })
    .post(
      "/auth/login",
      async ({ body, request }): Promise<Token> => ({
        access_token: await accounts.login(body, request.signal),
        token_type: "bearer",
      }),
      { parse: [jsonBody(LoginRequest)], body: "LoginRequest", detail: operations.login },
    );

  const me = new Elysia()
    .use(authentication(accounts.authenticate))
    .model({ UpdateUserRequest: validator(UpdateUserRequest, { in: "body" }) })
    .get("/auth/me", ({ user }): UserShape => toShape(user), { detail: operations.getMe })
    .patch(
      "/auth/me",
      async ({ user, body, request }): Promise<UserShape> =>
        toShape(await accounts.update(user, body, request.signal)),
      { parse: [jsonBody(UpdateUserRequest)], body: "UpdateUserRequest", detail: operations.updateMe },
    )
    .delete(
      "/auth/me",
      async ({ user, set }): Promise<void> => {
        await accounts.remove(user);
        set.status = 204;
      },
      { parse: "none", detail: operations.deleteMe },
    );

  return new Elysia({ name: "auth" }).use(register).use(login).use(me);
}

/** The read shape, member by member: a new column never reaches the wire by itself. */
const toShape = (user: User): UserShape => ({
  id: user.id,
  email: user.email,
  username: user.username,
  is_active: user.isActive,
  created_at: user.createdAt.toISOString(),
  updated_at: user.updatedAt.toISOString(),
});
