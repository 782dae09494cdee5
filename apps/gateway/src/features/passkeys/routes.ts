/** The passkey routes. This file handles only HTTP; `service.ts` contains the rules. */
import { type Passkey, type Token, toPasskey, toToken } from "@latchkey/contracts";
import type { EmailDigest } from "@latchkey/database";
import { Elysia } from "elysia";
import { authRequests } from "../../middleware/auth-request.ts";
import { bearerAuth } from "../../middleware/bearer-auth.ts";
import { type RateLimiters, rateLimitRoutes } from "../../middleware/rate-limit.ts";
import type { Principal } from "../../tokens/access-tokens.ts";
import { operations } from "./openapi.ts";
import type { PasskeyService } from "./service.ts";

export interface PasskeyRoutesOptions {
  readonly passkeyService: PasskeyService;
  readonly authenticate: (token: string | null, onSigned: (userId: number) => void) => Promise<Principal>;
  readonly limiters: RateLimiters | null;
  readonly digestEmail: EmailDigest;
}

export function passkeyRoutes({ passkeyService, authenticate, limiters, digestEmail }: PasskeyRoutesOptions) {
  const login = new Elysia()
    .use(authRequests(digestEmail))
    .post("/auth/login/passkey/options", () => passkeyService.requestLogin(), operations.passkeyLoginOptions)
    .use(rateLimitRoutes(limiters?.passkeyLogin))
    .post(
      "/auth/login/passkey",
      async ({ body, authRequest }): Promise<Token> => toToken(await passkeyService.login(body, authRequest)),
      operations.passkeyLogin,
    );

  const passkeys = new Elysia()
    .use(bearerAuth(authenticate))
    .get(
      "/auth/passkeys",
      async ({ principal }): Promise<Passkey[]> => (await passkeyService.list(principal)).map(toPasskey),
      operations.listPasskeys,
    )
    .use(authRequests(digestEmail))
    .post(
      "/auth/passkeys",
      async ({ principal, body, authRequest }): Promise<Passkey> =>
        toPasskey(await passkeyService.create(principal, body, authRequest)),
      operations.createPasskey,
    )
    .delete(
      "/auth/passkeys/:id",
      ({ principal, params, authRequest }) => passkeyService.remove(principal, params.id, authRequest),
      operations.deletePasskey,
    )
    .post(
      "/auth/passkeys/options",
      ({ principal, body, authRequest }) =>
        passkeyService.requestCreation(principal, body.current_password, authRequest),
      { ...operations.createPasskeyOptions, beforeHandle: limiters?.passwordChange.limitUser ?? [] },
    );

  return new Elysia({ name: "passkeys" }).use(login).use(passkeys);
}
