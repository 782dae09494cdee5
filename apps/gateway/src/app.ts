/** Assembles the server: middleware in order, then the features. `serve.ts` opens all resources and passes them in. */
import type { FactorCipher } from "@latchkey/administration";
import type { Database, EmailDigest } from "@latchkey/database";
import type { Hasher } from "@latchkey/hashing";
import type { Config } from "./config.ts";
import { createAuthentication } from "./features/auth/authentication.ts";
import { createFamiliarNetworks, type NetworkDigestOf } from "./features/auth/familiar-networks.ts";
import { createLinkService } from "./features/auth/links.ts";
import { createLoginRule } from "./features/auth/login-rule.ts";
import { createPasswordLogin } from "./features/auth/password-login.ts";
import { createRegistration } from "./features/auth/registration.ts";
import { createRenewal } from "./features/auth/renewal.ts";
import { createAccountService } from "./features/auth/service.ts";
import { createUsernameLimit } from "./features/auth/username-limit.ts";
import { createPasswordVerifier } from "./features/auth/verify-password.ts";
import { createWrongPasswordLimit } from "./features/auth/wrong-password-limit.ts";
import { createOperations } from "./features/operations.ts";
import type { FeatureResources } from "./features/optional-feature.ts";
import { enabledFeatures, OPTIONAL_FEATURES } from "./features/optional-features.ts";
import { LIVENESS_PATH, PROBE_PATHS } from "./features/probes/operations.ts";
import { createReadiness } from "./features/probes/service.ts";
import { createTodoService } from "./features/todos/service.ts";
import { enabledOperations } from "./http/operation.ts";
import { createLogin, createTokenRule } from "./login.ts";
import { bearerAuth } from "./middleware/bearer-auth.ts";
import { methodNotAllowed } from "./middleware/error-handler.ts";
import { registerOperations } from "./middleware/operations.ts";
import { createServer } from "./middleware/pipeline.ts";
import { createRateLimiters, rateLimit } from "./middleware/rate-limit.ts";
import type { Logger } from "./observability/logger.ts";
import type { RequestObservation } from "./observability/metrics.ts";
import { createPublicDocument } from "./openapi/public-document.ts";
import { createOwner } from "./owner.ts";
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
  /** Encrypts the secrets of second factors; null if they are off. @default null */
  readonly factorCipher?: FactorCipher | null;
  /** Computes the `email_digest` of log lines. */
  readonly digestEmail: EmailDigest;
  /** Whether the password is on the list of passwords that users cannot choose. @default no password is listed */
  readonly isListedPassword?: (password: string) => boolean;
  /** Counts requests and attempts. @default a store in memory */
  readonly store?: Store | undefined;
  /**
   * Idle time until a connection is closed, 1 to 255, or 0 for never. Bun does not apply this limit after the request body is
   * complete, so a request can wait longer for a derivation. @default that of the configuration
   */
  readonly idleTimeoutSeconds?: number;
  /** Called for each request, after the response. */
  readonly observe?: ((request: RequestObservation) => void) | undefined;
  /** Whether the process is shutting down. If true, the service is not ready, and responses close the connections. */
  readonly isStopping: () => boolean;
}

/** Loads the modules of features only if they are on. */
export async function createApp(options: AppOptions) {
  const { config, keys, database, hasher, logger, observe, isStopping, factorCipher = null } = options;
  const { isListedPassword = () => false, store = createMemoryStore() } = options;
  const { accounts: rules, rateLimits } = config;
  const { sendsMail } = rules;
  const features = enabledFeatures(config);
  const limiters = rateLimits && createRateLimiters(rateLimits, store);
  const { digests, oneTimeTokens, publicKeySet, factorStates } = keys;
  const { users, outbox } = database;
  const tokens = createTokens(keys, config.tokens, features);
  // The budget of codes for the owner also exists without limits.
  const familiarNetworks =
    rateLimits || features.has("emailLogin")
      ? createFamiliarNetworks({ users, digests, store: rateLimits && store })
      : null;
  const networkDigestOf: NetworkDigestOf = (client) => familiarNetworks?.networkDigestOf(client);
  const wrongPasswordLimit = rateLimits && createWrongPasswordLimit(store);
  const verifyPassword = createPasswordVerifier(hasher, users);
  const owner = createOwner({
    users,
    verifyPassword,
    wrongPasswordLimit,
    requireCurrentPassword: rules.requireCurrentPassword,
    sendsMail,
  });
  const expectToken = createTokenRule({
    outbox,
    requireVerifiedEmail: rules.requireVerifiedEmail,
    isVerifiedElsewhere: config.tokenKeys.privateKey !== null,
  });
  const login = createLogin({ users, tokens, factorStates, expectToken, familiarNetworks });
  const canLogIn = createLoginRule({
    sendsMail,
    hasPasskeys: features.has("passkeys"),
    issuers: config.variables.OIDC_PROVIDERS?.map(({ issuer }) => issuer) ?? [],
  });
  const assets = readAssets(config.pages.primaryColor, config.pages.logo);

  const resources: FeatureResources = {
    config,
    features,
    database,
    keys,
    store,
    tokens,
    login,
    owner,
    expectToken,
    canLogIn,
    networkDigestOf,
    factorCipher,
    clearWrongPasswords: async (user) => wrongPasswordLimit?.clear(user),
  };
  const opened = await Promise.all(OPTIONAL_FEATURES.map(({ open }) => open(resources)));
  const openFeatures = opened.filter((feature) => feature !== null);
  const operations = createOperations({
    readiness: createReadiness(() => database.ping(), isStopping),
    register: createRegistration({
      users,
      hasher,
      networkDigestOf,
      sendsMail,
      isOpen: rules.acceptsRegistrations,
    }),
    verifyPasswordLogin: createPasswordLogin({ users, verifyPassword, familiarNetworks, wrongPasswordLimit }),
    login,
    renew: createRenewal(tokens, expectToken),
    accounts: createAccountService({
      users,
      hasher,
      owner,
      networkDigestOf,
      rules,
      limitUsername: rateLimits && createUsernameLimit(store),
    }),
    links: createLinkService({ users, outbox, hasher, oneTimeTokens, owner, networkDigestOf }),
    optionalOperations: openFeatures.flatMap((feature) => feature.operations),
    rules,
    features,
    isListedPassword,
    publicKeySet,
    todoService: createTodoService(database.todos),
  });

  const uncountedPaths = operations.filter(({ limit }) => limit === "none").map(({ path }) => path);
  const forms = enabledOperations(operations, features).filter(({ form }) => form);
  const app = createServer({
    idleTimeoutSeconds: options.idleTimeoutSeconds ?? config.idleTimeoutSeconds,
    corsOrigins: config.corsOrigins,
    trustProxy: config.trustProxy,
    gate: rateLimit(limiters?.default, new Set([...uncountedPaths, ...assets.contents.keys()])),
    logger,
    logsPaths: config.log.format === "pretty",
    probePaths: new Set(PROBE_PATHS),
    assetPaths: assets.contents,
    oauthPaths: new Set(forms.map(({ path }) => path)),
    silentPaths: new Set(logger.isLevelEnabled("debug") ? [] : [LIVENESS_PATH]),
    observe,
    secureTransport: config.environment === "production",
    isStopping,
  });
  app.use(
    registerOperations(enabledOperations(operations, features), {
      authenticate: bearerAuth(createAuthentication(tokens, owner)),
      limiters,
      digestEmail: options.digestEmail,
    }),
  );
  app.use(
    pageRoutes({
      createDocument: () => createPublicDocument(operations, features),
      assets,
      product: config.pages.product,
      rules,
      features,
      featurePages: openFeatures.map(({ pages }) => pages),
    }),
  );
  return app.use(methodNotAllowed(app));
}
