/** The auth routes: HTTP only; the rules are in the service. */
import { type Token, toToken, toUser, toUserWithRoles, type User as UserShape } from "@latchkey/contracts";
import { type Context, Elysia } from "elysia";
import type { AccountRules } from "../../config.ts";
import { ignoreBody } from "../../http/body.ts";
import { authRequests } from "../../middleware/auth-request.ts";
import { bearerAuth } from "../../middleware/bearer-auth.ts";
import { type RateLimiters, rateLimitRoutes } from "../../middleware/rate-limit.ts";
import type { Digests } from "../../tokens/token-keys.ts";
import { createOperations, type IsListed } from "./openapi.ts";
import type { AuthService } from "./service.ts";

export interface AuthRoutesOptions {
  readonly authService: AuthService;
  /** false: the routes that need mail do not exist. */
  readonly sendsMail: boolean;
  /** Without renewals or changes of an e-mail, their routes do not exist. */
  readonly rules: AccountRules;
  /** null: rate limits are disabled. */
  readonly limiters: RateLimiters | null;
  readonly digests: Pick<Digests, "email">;
  readonly isListedPassword: IsListed;
}

export function authRoutes(options: AuthRoutesOptions) {
  const { authService, sendsMail, rules, isListedPassword, limiters, digests } = options;
  const operations = createOperations(rules, isListedPassword);
  const toShape = rules.claims.includes("roles") ? toUserWithRoles : toUser;
  const withAuthRequest = authRequests(digests);

  /** Routes that also count against this quota, if any. */
  const routes = (quota?: keyof RateLimiters) =>
    new Elysia().use(withAuthRequest).use(rateLimitRoutes(quota && limiters?.[quota]));

  const register = routes("register").post(
    "/auth/register",
    async ({ body, authRequest, set }): Promise<UserShape> => {
      const user = await authService.register(body, authRequest);
      set.status = 201;
      return toShape(user);
    },
    operations.register,
  );

  const login = routes("login").post(
    "/auth/login",
    async ({ body, authRequest }): Promise<Token> => toToken(await authService.login(body, authRequest)),
    operations.login,
  );

  const me = new Elysia()
    .use(bearerAuth(authService.authenticate))
    .get("/auth/me", ({ principal }): UserShape => toShape(principal.user), operations.getMe);
  if (rules.renewalDays > 0)
    me.post(
      "/auth/tokens",
      async ({ principal }): Promise<Token> => toToken(await authService.renew(principal)),
      { ...operations.renewToken, parse: [ignoreBody] },
    );
  const changes = me
    .use(withAuthRequest)
    .patch(
      "/auth/me",
      async ({ principal, body, authRequest }): Promise<UserShape> =>
        toShape(await authService.update(principal, body, authRequest)),
      {
        ...operations.updateMe,
        beforeHandle: async (context) => {
          const { password, current_password } = context.body;
          if (password !== undefined || current_password !== undefined)
            await limiters?.passwordChange.limitUser(context);
        },
      },
    )
    .delete(
      "/auth/me",
      ({ principal, authRequest, set }) => respondWith(set, 204, authService.delete(principal, authRequest)),
      { ...operations.deleteMe, parse: [ignoreBody] },
    )
    .delete(
      "/auth/tokens",
      ({ principal, authRequest, set }) =>
        respondWith(set, 204, authService.revokeTokens(principal, authRequest)),
      { ...operations.revokeTokens, parse: [ignoreBody] },
    );

  const auth = new Elysia({ name: "auth" }).use(register).use(login).use(changes);
  if (!sendsMail) return auth;

  const requestReset = routes("mail").post(
    "/auth/password-reset",
    ({ body, authRequest, set }) => respondWith(set, 202, authService.requestReset(body.email, authRequest)),
    operations.requestPasswordReset,
  );
  const confirmVerification = routes().post(
    "/auth/email-verification/confirm",
    ({ body, authRequest, set }) => respondWith(set, 204, authService.confirmVerification(body, authRequest)),
    operations.confirmEmailVerification,
  );
  const confirmReset = routes("passwordChange").post(
    "/auth/password-reset/confirm",
    ({ body, authRequest, set }) => respondWith(set, 204, authService.confirmReset(body, authRequest)),
    operations.confirmPasswordReset,
  );
  const requestVerification = routes("mail")
    .use(bearerAuth(authService.authenticate))
    .post(
      "/auth/email-verification",
      ({ principal, set }) => respondWith(set, 202, authService.requestVerification(principal)),
      { ...operations.requestEmailVerification, parse: [ignoreBody] },
    );
  auth.use(requestReset).use(confirmVerification).use(confirmReset).use(requestVerification);
  if (!rules.changesEmail) return auth;

  const confirmEmailChange = routes().post(
    "/auth/email-change/confirm",
    ({ body, authRequest, set }) => respondWith(set, 204, authService.confirmEmailChange(body, authRequest)),
    operations.confirmEmailChange,
  );
  const requestEmailChange = routes()
    .use(bearerAuth(authService.authenticate))
    .post(
      "/auth/email-change",
      ({ principal, body, authRequest, set }) =>
        respondWith(set, 202, authService.requestEmailChange(principal, body, authRequest)),
      { ...operations.requestEmailChange, beforeHandle: limiters ? [limiters.passwordChange.limitUser] : [] },
    );
  return auth.use(confirmEmailChange).use(requestEmailChange);
}

/** A response without a body. */
async function respondWith(set: Context["set"], status: 202 | 204, work: Promise<void>): Promise<void> {
  await work;
  set.status = status;
}
