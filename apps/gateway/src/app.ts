/** Assembles the server: middleware in order, then the features. `program.ts` opens all resources and passes them in. */
import type { Database, EmailDigest } from "@latchkey/database";
import type { Hasher } from "@latchkey/hashing";
import type { AccountRules, Config } from "./config.ts";
import { createRouter } from "./elysia/workarounds.ts";
import { createFamiliarNetworks } from "./features/auth/familiar-networks.ts";
import { createLoginRule } from "./features/auth/login-rule.ts";
import { createAuthService } from "./features/auth/service.ts";
import { passwordGuard } from "./features/auth/verify-password.ts";
import { createWrongPasswordLimit } from "./features/auth/wrong-password-limit.ts";
import { createOperations } from "./features/operations.ts";
import { isLiveness, isProbe } from "./features/probes/operations.ts";
import { createReadiness } from "./features/probes/service.ts";
import { createTodoService } from "./features/todos/service.ts";
import { enabledOperations } from "./http/operation.ts";
import { createAccessLog } from "./middleware/access-log.ts";
import { bearerAuth } from "./middleware/bearer-auth.ts";
import { CORS_HEADERS } from "./middleware/cors.ts";
import { fallbackErrorHandler, methodNotAllowed } from "./middleware/error-handler.ts";
import { registerOperations } from "./middleware/operations.ts";
import { createPipeline } from "./middleware/pipeline.ts";
import { createRateLimiters, rateLimit } from "./middleware/rate-limit.ts";
import { secureHeaders } from "./middleware/secure-headers.ts";
import type { Logger } from "./observability/logger.ts";
import type { RequestObservation } from "./observability/metrics.ts";
import { createPublicDocument } from "./openapi/public-document.ts";
import { enabledFeatures } from "./optional-features.ts";
import { readAssets } from "./pages/assets.ts";
import { pageRoutes } from "./pages/routes.ts";
import { createMemoryStore, type Store } from "./rate-limit/store.ts";
import { createTokens } from "./tokens/access-tokens.ts";
import type { TokenKeys } from "./tokens/token-keys.ts";

interface AppOptions {
  readonly config: Config;
  readonly keys: TokenKeys;
  readonly database: Database;
  readonly hasher: Hasher;
  readonly logger: Logger;
  /** Computes the `email_digest` of log lines. */
  readonly digestEmail: EmailDigest;
  /** null if `config.passkeys` is null. */
  readonly passkeyFeature: typeof import("./features/passkeys/feature.ts") | null;
  /** null if `config.oidc` is null. */
  readonly identityFeature: typeof import("./features/identities/feature.ts") | null;
  /** null if logins with codes are off. */
  readonly emailLoginFeature: typeof import("./features/email-login/feature.ts") | null;
  /** Whether the password is on the list of passwords that users cannot choose. @default no password is listed */
  readonly isListedPassword?: (password: string) => boolean;
  /** Counts requests and attempts. @default a store in memory */
  readonly store?: Store;
  /**
   * Idle time until a connection is closed, 1 to 255, or 0 for never. Bun does not apply this limit after the request body is
   * complete, so a request can wait longer for a derivation. @default that of the configuration
   */
  readonly idleTimeoutSeconds?: number;
  /** Called for each request, after the response. */
  readonly observe?: (request: RequestObservation) => void;
  /** Registers only this many middleware, outermost first. `bench http --layers` measures the cost of each. @default all */
  readonly layers?: number | undefined;
  /** Whether the process is shutting down. If true, the service is not ready, and responses close the connections. */
  readonly isStopping: () => boolean;
}

export function createApp(options: AppOptions) {
  const { config, keys, database, hasher, logger, passkeyFeature } = options;
  const { identityFeature, emailLoginFeature, observe, isStopping } = options;
  const { isListedPassword = () => false, store = createMemoryStore() } = options;
  const limiters = config.rateLimits && createRateLimiters(config.rateLimits, store);
  const { signing, verification, digests, oneTimeTokens, passkeyStatements, publicKeySet } = keys;
  const { loginCodes, oidcStates } = keys;
  const { users, passkeys, identities, outbox } = database;
  const sendsMail = config.mail !== null;
  const familiarNetworks = config.rateLimits && createFamiliarNetworks({ users, digests, store });
  const rules: AccountRules = config.auth;
  const { issuer, audience, tokenExpireMinutes, renewalDays, renewalIdleHours, claims, hasPasskeys } =
    config.auth;
  const tokens = createTokens({
    keys: { signing, verification },
    issuer,
    audience,
    tokenExpireMinutes,
    renewalDays,
    renewalIdleHours,
    claims,
    hasMethods: hasPasskeys,
  });
  const authService = createAuthService({
    users,
    outbox,
    hasher,
    tokens,
    oneTimeTokens,
    familiarNetworks,
    wrongPasswordLimit: config.rateLimits && createWrongPasswordLimit(store),
    sendsMail,
    requireCurrentPassword: config.auth.requireCurrentPassword,
    requireVerifiedEmail: config.auth.requireVerifiedEmail,
    isVerifiedElsewhere: config.auth.privateKey !== null,
  });
  const canLogIn = createLoginRule({
    sendsMail,
    hasPasskeys,
    issuers: config.oidc?.providers.map(({ issuer }) => issuer) ?? [],
  });
  const assets = readAssets(config.pages.primaryColor);
  const log = createAccessLog({
    logger,
    isProbe,
    isAsset: (path) => assets.contents.has(path),
    logsPaths: config.log.format === "pretty",
    observe,
  });
  const logsLiveness = logger.isLevelEnabled("debug");
  const skipLogging = (path: string) => !logsLiveness && isLiveness(path);
  const skipRateLimit = (path: string) => isProbe(path) || assets.contents.has(path);

  const defaultHeaders = {
    ...CORS_HEADERS,
    ...secureHeaders({ secureTransport: config.environment === "production" }),
  };
  const peerAddress = (request: Request): string | undefined => app.server?.requestIP(request)?.address;

  const features = enabledFeatures(config);
  const passkeyService =
    config.passkeys &&
    passkeyFeature?.createPasskeyService({
      origins: config.passkeys.origins,
      rpId: config.passkeys.rpId,
      rpName: config.passkeys.rpName,
      passkeys,
      passkeyStatements,
      sendsMail,
      canLogIn,
      proveOwner: authService.proveOwner,
      findUser: authService.findUser,
      completeLogin: authService.completeLogin,
    });
  const identityService =
    config.oidc &&
    identityFeature?.createIdentityService({
      providers: config.oidc.providers.map((settings) => identityFeature.openProvider(settings)),
      redirectUris: config.oidc.redirectUris,
      users,
      identities,
      oidcStates,
      canLogIn,
      sendsMail,
      proveOwner: authService.proveOwner,
      findUser: authService.findUser,
      explainRejection: authService.explainRejection,
      networkDigestOf: authService.networkDigestOf,
      completeLogin: authService.completeLogin,
    });
  const emailLogin = emailLoginFeature?.createEmailLogin({
    users,
    outbox,
    store,
    loginCodes,
    digests,
    passwordGuard,
    completeLogin: authService.completeLogin,
  });
  const operations = createOperations({
    readiness: createReadiness(() => database.ping(), isStopping),
    authService,
    optionalOperations: [
      ...((passkeyService && passkeyFeature?.passkeyOperations(passkeyService)) ?? []),
      ...((identityService && identityFeature?.identityOperations(identityService)) ?? []),
      ...((emailLogin && emailLoginFeature?.emailLoginOperations(emailLogin)) ?? []),
    ],
    rules,
    isListedPassword,
    publicKeySet,
    todoService: createTodoService(database.todos),
  });

  const pipeline = createPipeline({
    corsOrigins: config.corsOrigins,
    trustProxy: config.trustProxy,
    gate: rateLimit(limiters?.default, skipRateLimit),
    logger,
    log,
    defaultHeaders,
    isStopping,
    peerAddress,
    skipLogging,
    isObserved: observe !== undefined,
  });
  const app = createRouter(
    options.idleTimeoutSeconds ?? config.idleTimeoutSeconds,
    fallbackErrorHandler(logger),
  );
  for (const step of pipeline.slice(0, options.layers)) app.use(step);
  app.use(
    registerOperations(enabledOperations(operations, features), {
      authenticate: bearerAuth(authService.authenticate),
      limiters,
      digestEmail: options.digestEmail,
    }),
  );
  app.use(
    pageRoutes({
      createDocument: () => createPublicDocument(operations, features),
      assets,
      product: config.pages.product,
      rules: {
        changesEmail: rules.changesEmail,
        requireCurrentPassword: rules.requireCurrentPassword,
        passwordMinLength: rules.passwordMinLength,
        hasPasskeys,
        hasEmailLogin: rules.hasEmailLogin,
        providers: config.oidc?.providers.map(({ name }) => name) ?? [],
        redirectUris: config.oidc?.redirectUris ?? [],
        sendsMail,
      },
    }),
  );

  return app.use(methodNotAllowed(app));
}
