/** The auth routes. This file handles only HTTP; `service.ts` contains the rules. */
import { type Token, toToken, toUser, toUserWithRoles, type User as UserShape } from "@latchkey/contracts";
import type { EmailDigest } from "@latchkey/database";
import { Elysia } from "elysia";
import type { AccountRules } from "../../config.ts";
import { authRequests } from "../../middleware/auth-request.ts";
import { bearerAuth } from "../../middleware/bearer-auth.ts";
import { type RateLimiters, rateLimitRoutes } from "../../middleware/rate-limit.ts";
import { createOperations, type IsListed } from "./openapi.ts";
import type { AuthService } from "./service.ts";

export interface AuthRoutesOptions {
  readonly authService: AuthService;
  /** false: the routes that need mail do not exist. */
  readonly sendsMail: boolean;
  /** The routes for renewals and e-mail changes exist only if the rules allow renewals and e-mail changes. */
  readonly rules: AccountRules;
  /** null: rate limits are disabled. */
  readonly limiters: RateLimiters | null;
  readonly digestEmail: EmailDigest;
  readonly isListedPassword: IsListed;
}

export function authRoutes(options: AuthRoutesOptions) {
  const { authService, sendsMail, rules, isListedPassword, limiters, digestEmail } = options;
  const operations = createOperations(rules, isListedPassword);
  const toShape = rules.claims.includes("roles") ? toUserWithRoles : toUser;
  const withAuthRequest = authRequests(digestEmail);

  /** Requests to routes of the returned instance count against the default quota and, if given, against `quota`. */
  const routes = (quota?: keyof RateLimiters) =>
    new Elysia().use(withAuthRequest).use(rateLimitRoutes(quota && limiters?.[quota]));

  const register = routes("register").post(
    "/auth/register",
    async ({ body, authRequest }): Promise<UserShape> =>
      toShape(await authService.register(body, authRequest)),
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
      operations.renewToken,
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
      ({ principal, authRequest }) => authService.delete(principal, authRequest),
      operations.deleteMe,
    )
    .delete(
      "/auth/tokens",
      ({ principal, authRequest }) => authService.revokeTokens(principal, authRequest),
      operations.revokeTokens,
    );

  const auth = new Elysia({ name: "auth" }).use(register).use(login).use(changes);
  if (!sendsMail) return auth;

  const requestReset = routes("mail").post(
    "/auth/password-reset",
    ({ body, authRequest }) => authService.requestReset(body.email, authRequest),
    operations.requestPasswordReset,
  );
  const confirmVerification = routes().post(
    "/auth/email-verification/confirm",
    ({ body, authRequest }) => authService.confirmVerification(body, authRequest),
    operations.confirmEmailVerification,
  );
  const confirmReset = routes("passwordChange").post(
    "/auth/password-reset/confirm",
    ({ body, authRequest }) => authService.confirmReset(body, authRequest),
    operations.confirmPasswordReset,
  );
  const requestVerification = routes("mail")
    .use(bearerAuth(authService.authenticate))
    .post(
      "/auth/email-verification",
      ({ principal }) => authService.requestVerification(principal),
      operations.requestEmailVerification,
    );
  auth.use(requestReset).use(confirmVerification).use(confirmReset).use(requestVerification);
  if (!rules.changesEmail) return auth;

  const emailChange = routes()
    .post(
      "/auth/email-change/approve",
      ({ body, authRequest }) => authService.approveEmailChange(body, authRequest),
      operations.approveEmailChange,
    )
    .post(
      "/auth/email-change/confirm",
      ({ body, authRequest }) => authService.confirmEmailChange(body, authRequest),
      operations.confirmEmailChange,
    )
    .use(bearerAuth(authService.authenticate))
    .post(
      "/auth/email-change",
      ({ principal, body, authRequest }) => authService.requestEmailChange(principal, body, authRequest),
      { ...operations.requestEmailChange, beforeHandle: limiters?.passwordChange.limitUser ?? [] },
    );
  return auth.use(emailChange);
}
