/** The routes of all features, without middleware. The OpenAPI document describes these routes. */
import type { PublicKeySet } from "@latchkey/contracts";
import { Elysia } from "elysia";
import { type AuthRoutesOptions, authRoutes } from "./auth/routes.ts";
import { keyRoutes } from "./keys/routes.ts";
import type { passkeyRoutes } from "./passkeys/routes.ts";
import type { PasskeyService } from "./passkeys/service.ts";
import { probeRoutes } from "./probes/routes.ts";
import type { Readiness } from "./probes/service.ts";
import { todoRoutes } from "./todos/routes.ts";
import type { TodoService } from "./todos/service.ts";

export interface FeatureOptions extends AuthRoutesOptions {
  readonly readiness: Readiness;
  /** null: the routes of todos do not exist. */
  readonly todoService: TodoService | null;
  readonly publicKeySet: PublicKeySet;
  /** null: the routes of passkeys do not exist. */
  readonly passkeys: { readonly routes: typeof passkeyRoutes; readonly service: PasskeyService } | null;
}

export const createFeatures = (options: FeatureOptions) => {
  const { readiness, todoService, publicKeySet, passkeys, ...auth } = options;
  const { authenticate } = auth.authService;
  return new Elysia()
    .use(probeRoutes(readiness))
    .use(authRoutes(auth))
    .use(passkeys?.routes({ ...auth, passkeyService: passkeys.service, authenticate }) ?? new Elysia())
    .use(keyRoutes(publicKeySet))
    .use(todoService ? todoRoutes(todoService) : new Elysia());
};
