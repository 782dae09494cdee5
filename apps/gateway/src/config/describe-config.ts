/** The effective configuration for an operator to read, a line for each variable; no secret is ever part of it. */
import type { Quota } from "../rate-limit/policy.ts";
import type { Config } from "./config.ts";
import type { EnvironmentName } from "./environment.ts";

const MASK = "***";

/** `NAME=value` lines in the order of the README; what stands in brackets is no value but what its absence means. */
export function describeConfig(config: Config): string {
  const { auth, database, hash, log, metrics, rateLimits, shutdown } = config;
  const values: Readonly<Record<EnvironmentName, string | number | boolean>> = {
    NODE_ENV: config.environment,
    HOST: config.host,
    PORT: config.port,
    DATABASE_URL: withoutSecrets(database.url),
    DATABASE_POOL_SIZE: database.poolSize,
    AUTH_SECRET_KEY: masked(auth.secretKey) ?? "(made and kept beside the database)",
    AUTH_SECRET_KEY_PREVIOUS: masked(auth.previousSecretKey) ?? "(none)",
    AUTH_ALGORITHM: auth.algorithm,
    AUTH_TOKEN_EXPIRE_MINUTES: auth.tokenExpireMinutes,
    CORS_ORIGINS: config.corsOrigins === "*" ? "*" : config.corsOrigins.join(",") || "(none)",
    TRUST_PROXY: config.trustProxy,
    RATE_LIMIT_ENABLED: rateLimits !== null,
    RATE_LIMIT_DEFAULT: describeQuota(rateLimits?.default),
    RATE_LIMIT_LOGIN: describeQuota(rateLimits?.login),
    RATE_LIMIT_REGISTER: describeQuota(rateLimits?.register),
    RATE_LIMIT_PASSWORD_CHANGE: describeQuota(rateLimits?.passwordChange),
    REDIS_URL:
      config.redisUrl === null
        ? "(none: limits are counted in this process)"
        : withoutSecrets(config.redisUrl),
    HASH_WORKERS: hash.workers ?? "(the cores this process may use)",
    HASH_QUEUE_LIMIT: hash.queueLimit ?? "(five seconds of the capacity measured at start, at least 64)",
    HASH_KERNEL: hash.kernel,
    HASH_NICE: hash.nice,
    LOG_LEVEL: log.level,
    LOG_FORMAT: log.format,
    METRICS_PORT: metrics?.port ?? "(none: no metrics listener)",
    METRICS_HOST: metrics?.host ?? "(unused)",
    SHUTDOWN_GRACE_SECONDS: shutdown.graceSeconds,
    SHUTDOWN_DELAY_SECONDS: shutdown.delaySeconds,
  };
  return Object.entries(values)
    .map(([name, value]) => `${name}=${value}\n`)
    .join("");
}

const masked = (secret: string | null): string | null => (secret === null ? null : MASK);

const describeQuota = (quota: Quota | undefined): string => quota?.text.replace(" per 1 ", "/") ?? "(off)";

/** A URL without its password and its query, either of which may hold one; one that cannot be read is masked whole. */
function withoutSecrets(url: string): string {
  if (url.startsWith("file:")) return url;
  const parsed = URL.parse(url);
  if (parsed === null) return MASK;
  if (parsed.password !== "") parsed.password = MASK;
  if (parsed.search !== "") parsed.search = MASK;
  parsed.hash = "";
  return parsed.href;
}
