/** Turns environment variables into one frozen Config, or reports every fault at once. Reads nothing but its arguments. */
import { databaseFile, UnsupportedDatabaseUrl } from "@latchkey/database";
import { parseQuota, type Quota } from "../rate-limit/policy.ts";
import type { Environment } from "./environment.ts";
import { accepted, type Faults, readEnvironment } from "./read-environment.ts";
import { type AuthAlgorithm, weaknessOf } from "./secret-key.ts";

export interface Config {
  readonly environment: Environment["NODE_ENV"];
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  readonly database: { readonly url: string; readonly poolSize: number };
  readonly auth: {
    /** null: made and kept beside the database file. */
    readonly secretKey: string | null;
    /** Accepted for verification only. */
    readonly previousSecretKey: string | null;
    readonly algorithm: AuthAlgorithm;
    readonly tokenExpireMinutes: number;
  };
  readonly corsOrigins: "*" | readonly string[];
  /** How many proxies in front may be believed when they append to `X-Forwarded-For`. */
  readonly trustProxy: number;
  /** null: limits are off. */
  readonly rateLimits: RateLimits | null;
  /** null: limits are counted in this process. */
  readonly redisUrl: string | null;
  readonly hash: {
    readonly workers: number | null;
    readonly queueLimit: number | null;
    readonly kernel: string;
    /** 0 to 19. */
    readonly nice: number;
  };
  readonly log: { readonly level: Environment["LOG_LEVEL"]; readonly format: "json" | "pretty" };
  /** null: nothing listens; a port of 0 lets the system choose. */
  readonly metrics: { readonly host: string; readonly port: number } | null;
  readonly shutdown: { readonly graceSeconds: number; readonly delaySeconds: number };
  /** What is accepted but unwise, a sentence each, for the log. */
  readonly warnings: readonly string[];
}

export interface RateLimits {
  readonly default: Quota;
  readonly login: Quota;
  readonly register: Quota;
  readonly passwordChange: Quota;
}

export interface ConfigContext {
  /** Names that HASH_KERNEL may have beside `auto`. */
  readonly kernels: readonly string[];
  readonly isTerminal: boolean;
  /** Reads the file behind a `*_FILE` variable; throws if it cannot. */
  readonly readFile: (path: string) => string;
}

/** Every fault of an environment, a line each; never the value of a secret. */
export class ConfigurationError extends Error {
  override readonly name = "ConfigurationError";
  readonly code = "CONFIGURATION_ERROR";
  constructor(readonly faults: readonly string[]) {
    super(faults.join("\n"));
  }
}

/** @throws {ConfigurationError} naming every fault. */
export function parseConfig(
  variables: Readonly<Record<string, string | undefined>>,
  { kernels, isTerminal, readFile }: ConfigContext,
): Config {
  const faults: Faults = new Map();
  const warnings: string[] = [];
  const values = readEnvironment(variables, readFile, faults);
  const production = values.NODE_ENV === "production";
  const corsOrigins = parseOrigins(values.CORS_ORIGINS ?? (production ? "" : "*"));

  judgeDatabase(values, variables, { faults, warnings });
  judgeSecrets(values, { faults, warnings });
  if (corsOrigins === null) {
    faults.set("CORS_ORIGINS", `holds what is no origin; accepted: ${accepted("CORS_ORIGINS")}`);
  }
  if (values.HASH_KERNEL !== "auto" && !kernels.includes(values.HASH_KERNEL)) {
    const names = ["auto", ...kernels].join(", ");
    faults.set("HASH_KERNEL", `${JSON.stringify(values.HASH_KERNEL)} cannot run here; accepted: ${names}`);
  }
  if (values.METRICS_PORT === values.PORT && values.PORT !== 0 && !faults.has("PORT")) {
    faults.set("METRICS_PORT", "is the PORT of the service itself; accepted: a port of its own");
  }
  if (faults.size > 0) throw new ConfigurationError([...faults].map(([name, fault]) => `${name}: ${fault}`));

  return deepFreeze({
    environment: values.NODE_ENV,
    host: values.HOST,
    port: values.PORT,
    database: { url: values.DATABASE_URL, poolSize: values.DATABASE_POOL_SIZE },
    auth: {
      secretKey: values.AUTH_SECRET_KEY ?? null,
      previousSecretKey: values.AUTH_SECRET_KEY_PREVIOUS ?? null,
      algorithm: values.AUTH_ALGORITHM,
      tokenExpireMinutes: values.AUTH_TOKEN_EXPIRE_MINUTES,
    },
    corsOrigins: corsOrigins ?? [],
    trustProxy: values.TRUST_PROXY,
    rateLimits: values.RATE_LIMIT_ENABLED
      ? {
          default: parseQuota(values.RATE_LIMIT_DEFAULT),
          login: parseQuota(values.RATE_LIMIT_LOGIN),
          register: parseQuota(values.RATE_LIMIT_REGISTER),
          passwordChange: parseQuota(values.RATE_LIMIT_PASSWORD_CHANGE),
        }
      : null,
    redisUrl: values.REDIS_URL ?? null,
    hash: {
      workers: values.HASH_WORKERS ?? null,
      queueLimit: values.HASH_QUEUE_LIMIT ?? null,
      kernel: values.HASH_KERNEL,
      nice: values.HASH_NICE,
    },
    log: { level: values.LOG_LEVEL, format: values.LOG_FORMAT ?? (isTerminal ? "pretty" : "json") },
    metrics:
      values.METRICS_PORT === undefined ? null : { host: values.METRICS_HOST, port: values.METRICS_PORT },
    shutdown: { graceSeconds: values.SHUTDOWN_GRACE_SECONDS, delaySeconds: values.SHUTDOWN_DELAY_SECONDS },
    warnings,
  });
}

interface Judgement {
  readonly faults: Faults;
  readonly warnings: string[];
}

const isEmbedded = (values: Environment): boolean => values.DATABASE_URL.startsWith("file:");

/** An embedded database in production is allowed when asked for by name, never as a default. */
function judgeDatabase(
  values: Environment,
  variables: Readonly<Record<string, string | undefined>>,
  { faults, warnings }: Judgement,
): void {
  if (faults.has("DATABASE_URL") || faults.has("DATABASE_URL_FILE")) return;
  try {
    databaseFile({ url: values.DATABASE_URL });
  } catch (error) {
    if (!(error instanceof UnsupportedDatabaseUrl)) throw error;
    faults.set("DATABASE_URL", `cannot be used: ${error.problem} Accepted: ${accepted("DATABASE_URL")}`);
  }
  if (values.NODE_ENV !== "production") return;
  if (variables.DATABASE_URL === undefined && variables.DATABASE_URL_FILE === undefined) {
    faults.set(
      "DATABASE_URL",
      "is not set, and production takes no default; accepted: postgres://… or postgresql://…",
    );
  } else if (isEmbedded(values)) {
    warnings.push(
      "DATABASE_URL names an embedded database, which serves one machine; production expects PostgreSQL",
    );
  }
}

function judgeSecrets(values: Environment, { faults, warnings }: Judgement): void {
  const {
    NODE_ENV,
    AUTH_SECRET_KEY: key,
    AUTH_SECRET_KEY_PREVIOUS: previous,
    AUTH_ALGORITHM: algorithm,
  } = values;
  const previousWeakness = previous === undefined ? null : weaknessOf(previous, algorithm);
  if (previousWeakness)
    warnings.push(`AUTH_SECRET_KEY_PREVIOUS ${previousWeakness}, and tokens signed with it pass`);
  if (faults.has("AUTH_SECRET_KEY") || faults.has("AUTH_SECRET_KEY_FILE")) return;

  const problem = key === undefined ? absenceOf(values) : weaknessOf(key, algorithm);
  if (problem === null) return;
  if (NODE_ENV === "production" || key === undefined) {
    faults.set(
      "AUTH_SECRET_KEY",
      `${problem}; accepted: a random secret, such as the output of \`openssl rand -base64 48\``,
    );
  } else {
    warnings.push(`AUTH_SECRET_KEY ${problem}; production would refuse it`);
  }
}

/** Why no key can be made here; null where one is made and kept beside the database's file. */
function absenceOf(values: Environment): string | null {
  if (values.NODE_ENV === "production") return "is not set";
  return isEmbedded(values) ? null : "is not set, and PostgreSQL keeps none";
}

/** null when an entry is no origin as browsers send it (scheme, host, port; RFC 6454 §6.1). */
function parseOrigins(source: string): "*" | readonly string[] | null {
  if (source.trim() === "*") return "*";
  const origins = source.split(",").flatMap((entry) => entry.trim() || []);
  return origins.every((origin) => URL.canParse(origin) && new URL(origin).origin === origin)
    ? origins
    : null;
}

function deepFreeze<Value extends object>(value: Value): Value {
  for (const member of Object.values(value))
    if (typeof member === "object" && member !== null) deepFreeze(member);
  return Object.freeze(value);
}
