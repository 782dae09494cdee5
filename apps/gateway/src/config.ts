/** The gateway's configuration, validated and frozen. The functions in this file read only their arguments. */
import { printable } from "@latchkey/cli";
import {
  type ApiKey,
  describeEnvironment,
  type Environment,
  mailOptions,
  type ParseOptions,
  type PasswordBlocklist,
  parseEnvironment,
  sendsMail,
  type Variables,
  validateKernel,
  variablesHelp,
} from "@latchkey/config";
import { mapMembers } from "./map-members.ts";
import { ROUTE_LIMITS } from "./rate-limit/limits.ts";

/** Members can be null. The definition of the environment variable states what null means. */
export type Config = ReturnType<typeof createConfig>;
/** Rules for accounts: what users can do, and what the service requires of users. */
export type AccountRules = Config["accounts"];
export type RateLimits = NonNullable<Config["rateLimits"]>;

export interface ConfigContext extends Required<Omit<ParseOptions, "checks">> {
  /** Values of HASH_KERNEL in addition to `auto`. */
  readonly kernels: readonly string[];
  /** Checks the file that PASSWORD_BLOCKLIST specifies. @default no check */
  readonly blocklist?: Pick<PasswordBlocklist, "validate">;
}

/** @throws {ConfigurationError} with one line per invalid variable */
export const parseConfig = (variables: Variables, context: ConfigContext): Config =>
  createConfig(readEnvironment(variables, context));

/**
 * Returns the output of `--check-config`: the effective value of each variable. Secrets are masked.
 * @throws {ConfigurationError} with one line per invalid variable
 */
export function checkConfig(variables: Variables, context: ConfigContext) {
  const environment = readEnvironment(variables, context);
  const values = describeEnvironment(environment).split("\n").map(printable).join("\n");
  return { values, warnings: environment.warnings };
}

/** Returns the part of the output of `--help` below the usage. */
export const describeOptions = (): string => `
  --ephemeral     serve tests: temporary database, free ports, mails as files
  --check-config  print the effective configuration, secrets masked, and exit
  --help          print this text and exit
  --version       print the version and exit

Environment variables. Bun also reads them from the file .env in the folder in
which it starts, without a message; the environment takes precedence.

${variablesHelp()}`;

const readEnvironment = (
  variables: Variables,
  { kernels, blocklist, ...options }: ConfigContext,
): Environment =>
  parseEnvironment(variables, {
    ...options,
    checks: { HASH_KERNEL: validateKernel(kernels), PASSWORD_BLOCKLIST: () => blocklist?.validate() },
  });

function createConfig({ values, warnings }: Environment) {
  return deepFreeze({
    environment: values.NODE_ENV,
    host: values.HOST,
    port: values.PORT,
    /** 0: connections are never closed because they are idle. */
    idleTimeoutSeconds: values.IDLE_TIMEOUT_SECONDS,
    database: {
      url: values.DATABASE_URL,
      poolSize: values.DATABASE_POOL_SIZE,
      preparedStatements: values.DATABASE_PREPARED_STATEMENTS,
    },
    tokenKeys: {
      secretKey: values.AUTH_SECRET_KEY,
      previousSecretKey: values.AUTH_SECRET_KEY_PREVIOUS,
      algorithm: values.AUTH_ALGORITHM,
      privateKey: values.AUTH_PRIVATE_KEY,
      nextPublicKey: values.AUTH_NEXT_PUBLIC_KEY,
      previousPublicKey: values.AUTH_PREVIOUS_PUBLIC_KEY,
    },
    tokens: {
      issuer: values.AUTH_ISSUER,
      audience: values.AUTH_AUDIENCE,
      tokenExpireMinutes: values.AUTH_TOKEN_EXPIRE_MINUTES,
      renewalDays: values.AUTH_RENEWAL_DAYS,
      renewalIdleHours: values.AUTH_RENEWAL_IDLE_HOURS,
      claims: values.AUTH_CLAIMS ?? [],
    },
    accounts: {
      sendsMail: sendsMail(values),
      /** Whether strangers can register, or get an account by a first login. */
      acceptsRegistrations: values.AUTH_REGISTRATION === "open",
      /** Whether the responses with a user contain the roles. */
      hasRoles: values.AUTH_CLAIMS?.includes("roles") ?? false,
      /** Whether these responses contain the claims of the application. */
      hasClaims: values.AUTH_CLAIMS?.includes("claims") ?? false,
      /** The first is the default. With more than one, users have a `locale`. */
      languages: values.LANGUAGES,
      renewsTokens: values.AUTH_RENEWAL_DAYS > 0,
      requireCurrentPassword: values.AUTH_REQUIRE_CURRENT_PASSWORD,
      requireVerifiedEmail: values.AUTH_REQUIRE_VERIFIED_EMAIL && sendsMail(values),
      changesEmail: values.AUTH_EMAIL_CHANGE && sendsMail(values),
      passwordMinLength: values.PASSWORD_MIN_LENGTH,
    },
    /** The keys of second factors. */
    factorKeys: {
      /** null: generated and stored next to the database. */
      key: values.AUTH_FACTOR_KEY,
      previousKey: values.AUTH_FACTOR_KEY_PREVIOUS,
    },
    /** Of these values, each feature that is off by default reads its own. */
    variables: values,
    corsOrigins: values.CORS_ORIGINS,
    trustProxy: values.TRUST_PROXY,
    rateLimits: values.RATE_LIMIT_ENABLED
      ? mapMembers(ROUTE_LIMITS, ({ variable }) => values[variable])
      : null,
    /** null: mail is off, and the routes that need mail do not exist. */
    mail: sendsMail(values)
      ? {
          /** null: mails are written to files. */
          server: values.MAIL_URL,
          from: values.MAIL_FROM ?? "Latchkey <latchkey@localhost.invalid>",
          ...mailOptions(values),
        }
      : null,
    /** If false, the routes of todos do not exist. */
    hasTodos: values.TODOS_ENABLED,
    pages: {
      product: { name: values.PRODUCT_NAME, url: values.PRODUCT_URL },
      primaryColor: values.PRODUCT_COLOR,
      /** null: the pages show the name. */
      logo: values.PRODUCT_LOGO,
    },
    redisUrl: values.REDIS_URL,
    hash: {
      kernel: values.HASH_KERNEL,
      nice: values.HASH_NICE,
      queueSeconds: values.HASH_QUEUE_SECONDS,
      ...(values.HASH_WORKERS !== null && { workers: values.HASH_WORKERS }),
      ...(values.HASH_QUEUE_LIMIT !== null && { queueLimit: values.HASH_QUEUE_LIMIT }),
    },
    log: { level: values.LOG_LEVEL, format: values.LOG_FORMAT },
    metrics: values.METRICS_PORT === null ? null : { host: values.METRICS_HOST, port: values.METRICS_PORT },
    /** null: the administration over HTTP is off. */
    administration:
      values.ADMIN_PORT === null
        ? null
        : { host: values.ADMIN_HOST, port: values.ADMIN_PORT, keys: administrationKeys(values) },
    shutdown: { graceSeconds: values.SHUTDOWN_GRACE_SECONDS, delaySeconds: values.SHUTDOWN_DELAY_SECONDS },
    warnings,
  });
}

/** A key of the administration, and what it can do. */
export interface AdministrationKey extends ApiKey {
  readonly scope: KeyScope;
}
/** `read`: users and account events. `events`: account events only. */
export type RestrictedScope = "read" | "events";
export type KeyScope = RestrictedScope | "all";

function administrationKeys(values: Environment["values"]): AdministrationKey[] {
  const withScope = (keys: readonly ApiKey[] | null, scope: KeyScope) =>
    (keys ?? []).map(({ name, key }) => ({ name, key, scope }));
  return [
    ...withScope(values.ADMIN_API_KEYS, "all"),
    ...withScope(values.ADMIN_READ_KEYS, "read"),
    ...withScope(values.ADMIN_EVENT_KEYS, "events"),
  ];
}

function deepFreeze<Value extends object>(value: Value): Value {
  for (const member of Object.values(value))
    if (typeof member === "object" && member !== null) deepFreeze(member);
  return Object.freeze(value);
}
