/** The auth routes: HTTP only; the rules are in the service. */
import {
  StrictUpdateUserRequest,
  type Token,
  toUser,
  UpdateUserRequest,
  type User as UserShape,
} from "@latchkey/contracts";
import { type Context, Elysia } from "elysia";
import { ignoreBody } from "../../http/body.ts";
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
    .post(
      "/auth/register",
      async ({ body, authRequest, set }): Promise<UserShape> => {
        const user = await authService.register(body, authRequest);
        set.status = 201;
        return toUser(user);
      },
      operations.register,
    );

  const login = new Elysia()
    .use(withAuthRequest)
    .use(rateLimitRoutes(limiters?.login))
    .post(
      "/auth/login",
      async ({ body, authRequest }): Promise<Token> => ({
        access_token: await authService.login(body, authRequest),
        token_type: "bearer",
      }),
      operations.login,
    );

  const updateRequest = requireCurrentPassword ? StrictUpdateUserRequest : UpdateUserRequest;
  const me = new Elysia()
    .use(bearerAuth(authService.authenticate))
    .get("/auth/me", ({ principal }): UserShape => toUser(principal.user), operations.getMe)
    .use(withAuthRequest)
    .patch(
      "/auth/me",
      async ({ principal, body, authRequest }): Promise<UserShape> =>
        toUser(await authService.update(principal, body, authRequest)),
      {
        ...operations.updateMe,
        body: validator(updateRequest, "body", "UpdateUserRequest"),
        beforeHandle: async ({ principal, body, clientAddress, set }) => {
          if (body.password === undefined && body.current_password === undefined) return;
          const client = { clientAddress, userId: principal.user.id };
          await limiters?.passwordChange.limit(client, set.headers);
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

  const auth = new Elysia({ name: "auth" }).use(register).use(login).use(me);
  if (recoveryService === null) return auth;
  const resetRequest = new Elysia()
    .use(withAuthRequest)
    .use(rateLimitRoutes(limiters?.mail))
    .post(
      "/auth/password-reset",
      ({ body, authRequest, set }) =>
        respondWith(set, 202, recoveryService.requestReset(body.email, authRequest)),
      operations.requestPasswordReset,
    );

  const confirmations = new Elysia()
    .use(withAuthRequest)
    .post(
      "/auth/email-verification/confirm",
      ({ body, authRequest, set }) =>
        respondWith(set, 204, recoveryService.confirmVerification(body.token, authRequest)),
      operations.confirmEmailVerification,
    )
    .use(rateLimitRoutes(limiters?.passwordChange))
    .post(
      "/auth/password-reset/confirm",
      ({ body, authRequest, set }) => respondWith(set, 204, recoveryService.confirmReset(body, authRequest)),
      operations.confirmPasswordReset,
    );

  const verificationRequest = new Elysia()
    .use(bearerAuth(authService.authenticate))
    .use(rateLimitRoutes(limiters?.mail))
    .post(
      "/auth/email-verification",
      ({ principal, set }) => respondWith(set, 202, recoveryService.requestVerification(principal)),
      { ...operations.requestEmailVerification, parse: [ignoreBody] },
    );

  return auth.use(resetRequest).use(confirmations).use(verificationRequest);
}

/** A response without a body. */
async function respondWith(set: Context["set"], status: 202 | 204, work: Promise<void>): Promise<void> {
  await work;
  set.status = status;
}
