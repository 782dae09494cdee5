/** The auth routes: HTTP only; the rules are in the service. */
import {
  EmailVerificationConfirmation,
  LoginRequest,
  normalizeEmail,
  PasswordResetConfirmation,
  PasswordResetRequest,
  RegisterRequest,
  StrictUpdateUserRequest,
  type Token,
  toUser,
  UpdateUserRequest,
  type User as UserShape,
} from "@latchkey/contracts";
import { type Context, Elysia } from "elysia";
import { ignoreBody, jsonBody } from "../../http/body.ts";
import { requestContext } from "../../http/request-context.ts";
import { validator } from "../../http/validator.ts";
import { bearerAuth } from "../../middleware/bearer-auth.ts";
import { clientKey } from "../../middleware/client-address.ts";
import { type RateLimiters, rateLimitRoutes } from "../../middleware/rate-limit.ts";
import type { Digests } from "../../tokens/token-keys.ts";
import { operations } from "./openapi.ts";
import type { RecoveryService } from "./recovery-service.ts";
import type { AuthRequest, AuthService } from "./service.ts";

export interface AuthRoutesOptions {
  readonly authService: AuthService;
  /** null: no mail is sent, and its routes do not exist. */
  readonly recoveryService: RecoveryService | null;
  /** null: rate limits are disabled. */
  readonly limiters: RateLimiters | null;
  readonly digests: Pick<Digests, "email">;
  /** Whether a new password without the current one is invalid. */
  readonly requireCurrentPassword: boolean;
}

const withNormalizedEmail = (members: Record<string, unknown>): Record<string, unknown> =>
  typeof members.email === "string" ? { ...members, email: normalizeEmail(members.email) } : members;

export function authRoutes(options: AuthRoutesOptions) {
  const { authService, recoveryService, limiters, digests, requireCurrentPassword } = options;
  /** Adds `authRequest` to the routes that are registered after it. */
  const withAuthRequest = new Elysia({ name: "auth-request" })
    .use(requestContext())
    .resolve({ as: "scoped" }, (context) => {
      const authRequest: AuthRequest = {
        signal: context.request.signal,
        network: clientKey(context.clientAddress),
        audit(event, email, userId) {
          context.audit = { event, userId, emailDigest: digests.email(email) };
        },
        rehashed(format, { id: userId, email }) {
          context.rehash = { event: "password.rehashed", format, userId, emailDigest: digests.email(email) };
        },
        warn(error) {
          context.errorToLog = error;
        },
      };
      return { authRequest };
    });

  const register = new Elysia()
    .use(withAuthRequest)
    .use(rateLimitRoutes(limiters?.register))
    .model({ RegisterRequest: validator(RegisterRequest, { in: "body", normalize: withNormalizedEmail }) })
    .post(
      "/auth/register",
      async ({ body, authRequest, set }): Promise<UserShape> => {
        const user = await authService.register(body, authRequest);
        set.status = 201;
        return toUser(user);
      },
      { parse: [jsonBody(RegisterRequest)], body: "RegisterRequest", detail: operations.register },
    );

  const login = new Elysia()
    .use(withAuthRequest)
    .use(rateLimitRoutes(limiters?.login))
    .model({ LoginRequest: validator(LoginRequest, { in: "body", normalize: withNormalizedEmail }) })
    .post(
      "/auth/login",
      async ({ body, authRequest }): Promise<Token> => ({
        access_token: await authService.login(body, authRequest),
        token_type: "bearer",
      }),
      { parse: [jsonBody(LoginRequest)], body: "LoginRequest", detail: operations.login },
    );

  const updateRequest = requireCurrentPassword ? StrictUpdateUserRequest : UpdateUserRequest;
  const me = new Elysia()
    .use(bearerAuth(authService.authenticate))
    .model({ UpdateUserRequest: validator(updateRequest, { in: "body" }) })
    .get("/auth/me", ({ principal }): UserShape => toUser(principal.user), { detail: operations.getMe })
    .use(withAuthRequest)
    .patch(
      "/auth/me",
      async ({ principal, body, authRequest }): Promise<UserShape> =>
        toUser(await authService.update(principal, body, authRequest)),
      {
        parse: [jsonBody(UpdateUserRequest)],
        body: "UpdateUserRequest",
        beforeHandle: async ({ principal, body, clientAddress, set }) => {
          if (body.password === undefined && body.current_password === undefined) return;
          const client = { clientAddress, userId: principal.user.id };
          await limiters?.passwordChange.limit(client, set.headers);
        },
        detail: operations.updateMe,
      },
    )
    .delete(
      "/auth/me",
      ({ principal, authRequest, set }) => respondWith(set, 204, authService.delete(principal, authRequest)),
      { parse: [ignoreBody], detail: operations.deleteMe },
    )
    .delete(
      "/auth/tokens",
      ({ principal, authRequest, set }) =>
        respondWith(set, 204, authService.revokeTokens(principal, authRequest)),
      { parse: [ignoreBody], detail: operations.revokeTokens },
    );

  const auth = new Elysia({ name: "auth" }).use(register).use(login).use(me);
  return recoveryService === null ? auth : auth.use(recoveryRoutes(recoveryService));

  function recoveryRoutes(service: RecoveryService) {
    const resetRequest = new Elysia()
      .use(withAuthRequest)
      .use(rateLimitRoutes(limiters?.mail))
      .model({
        PasswordResetRequest: validator(PasswordResetRequest, { in: "body", normalize: withNormalizedEmail }),
      })
      .post(
        "/auth/password-reset",
        ({ body, authRequest, set }) => respondWith(set, 202, service.requestReset(body, authRequest)),
        {
          parse: [jsonBody(PasswordResetRequest)],
          body: "PasswordResetRequest",
          detail: operations.requestPasswordReset,
        },
      );

    const confirmations = new Elysia()
      .use(withAuthRequest)
      .model({
        PasswordResetConfirmation: validator(PasswordResetConfirmation, { in: "body" }),
        EmailVerificationConfirmation: validator(EmailVerificationConfirmation, { in: "body" }),
      })
      .post(
        "/auth/email-verification/confirm",
        ({ body, authRequest, set }) => respondWith(set, 204, service.confirmVerification(body, authRequest)),
        {
          parse: [jsonBody(EmailVerificationConfirmation)],
          body: "EmailVerificationConfirmation",
          detail: operations.confirmEmailVerification,
        },
      )
      .use(rateLimitRoutes(limiters?.passwordChange))
      .post(
        "/auth/password-reset/confirm",
        ({ body, authRequest, set }) => respondWith(set, 204, service.confirmReset(body, authRequest)),
        {
          parse: [jsonBody(PasswordResetConfirmation)],
          body: "PasswordResetConfirmation",
          detail: operations.confirmPasswordReset,
        },
      );

    const verificationRequest = new Elysia()
      .use(bearerAuth(authService.authenticate))
      .use(rateLimitRoutes(limiters?.mail))
      .post(
        "/auth/email-verification",
        ({ principal, set }) => respondWith(set, 202, service.requestVerification(principal)),
        { parse: [ignoreBody], detail: operations.requestEmailVerification },
      );

    return new Elysia({ name: "recovery" }).use(resetRequest).use(confirmations).use(verificationRequest);
  }
}

/** A response without a body. */
async function respondWith(set: Context["set"], status: 202 | 204, work: Promise<void>): Promise<void> {
  await work;
  set.status = status;
}
