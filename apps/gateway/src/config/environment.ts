/** The environment variables: their types, bounds, defaults and, in `description`, what a wrong value is told. */
import Type from "typebox";
import { QUOTA_PATTERN } from "../rate-limit/policy.ts";

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export const LOG_FORMATS = ["json", "pretty"] as const;
export const AUTH_ALGORITHMS = ["HS256", "HS384", "HS512"] as const;
export const NODE_ENVIRONMENTS = ["development", "test", "production"] as const;

const oneOf = <const Values extends string[]>(
  values: readonly [...Values],
  options: Type.TSchemaOptions = {},
) => Type.Enum([...values], { description: values.join(", "), ...options });

const wholeNumber = (minimum: number, maximum: number, options: Type.TNumberOptions = {}) =>
  Type.Integer({ minimum, maximum, description: `a whole number from ${minimum} to ${maximum}`, ...options });

const quota = (fallback: string) =>
  Type.String({
    pattern: QUOTA_PATTERN,
    default: fallback,
    description: `N/second, N/minute or N/hour, such as ${fallback}`,
  });

const host = () =>
  Type.String({ pattern: "^\\S+$", default: "127.0.0.1", description: "a host name or an IP address" });

const secret = () => Type.String({ minLength: 1, description: "a secret text" });

/** A variable with a `default` is always there once defaults are applied; the others say what their absence means. */
export const Environment = Type.Object({
  NODE_ENV: oneOf(NODE_ENVIRONMENTS, { default: "development" }),
  HOST: host(),
  PORT: wholeNumber(0, 65_535, { default: 3000 }),
  DATABASE_URL: Type.String({
    pattern: "^(file:.+|postgres(ql)?://.+)$",
    default: "file:./data/latchkey.db",
    description: "file:PATH, postgres://… or postgresql://…",
  }),
  DATABASE_POOL_SIZE: wholeNumber(1, 1000, { default: 10 }),
  /** Absent: made and kept beside the database file; refused in production and with PostgreSQL. */
  AUTH_SECRET_KEY: Type.Optional(secret()),
  /** Absent: only AUTH_SECRET_KEY verifies tokens. */
  AUTH_SECRET_KEY_PREVIOUS: Type.Optional(secret()),
  AUTH_ALGORITHM: oneOf(AUTH_ALGORITHMS, { default: "HS256" }),
  AUTH_TOKEN_EXPIRE_MINUTES: wholeNumber(1, 525_600, { default: 60 }),
  /** Absent: any origin outside production, none in production. */
  CORS_ORIGINS: Type.Optional(
    Type.String({ description: "* or origins such as https://app.example.com, separated by commas" }),
  ),
  TRUST_PROXY: wholeNumber(0, 32, { default: 0 }),
  RATE_LIMIT_ENABLED: Type.Boolean({ default: true, description: "true or false" }),
  RATE_LIMIT_DEFAULT: quota("6000/minute"),
  RATE_LIMIT_LOGIN: quota("5/minute"),
  RATE_LIMIT_REGISTER: quota("3/minute"),
  RATE_LIMIT_PASSWORD_CHANGE: quota("5/minute"),
  /** Absent: limits are counted in this process. */
  REDIS_URL: Type.Optional(
    Type.String({ pattern: "^rediss?://[^\\s]+$", description: "redis://HOST:PORT or rediss://HOST:PORT" }),
  ),
  /** Absent: the cores that this process may use. */
  HASH_WORKERS: Type.Optional(wholeNumber(1, 1024)),
  /** Absent: five seconds of the measured capacity, at least 64. */
  HASH_QUEUE_LIMIT: Type.Optional(wholeNumber(0, 1_000_000)),
  /** How far the deriving threads stand back for all others (nice(2)); Linux only. */
  HASH_NICE: wholeNumber(0, 19, { default: 5 }),
  HASH_KERNEL: Type.String({ default: "auto", description: "auto or the name of one kernel" }),
  LOG_LEVEL: oneOf(LOG_LEVELS, { default: "info" }),
  /** Absent: pretty on a terminal, else json. */
  LOG_FORMAT: Type.Optional(oneOf(LOG_FORMATS)),
  /** Absent: no metrics listener. */
  METRICS_PORT: Type.Optional(wholeNumber(0, 65_535)),
  METRICS_HOST: host(),
  SHUTDOWN_GRACE_SECONDS: wholeNumber(0, 3600, { default: 10 }),
  SHUTDOWN_DELAY_SECONDS: wholeNumber(0, 3600, { default: 0 }),
});
export type Environment = Type.Static<typeof Environment>;
export type EnvironmentName = keyof Environment;

/** Variables whose value never appears in a message; each may also be given as `NAME_FILE`, the path of a file. */
export const SECRET_VARIABLES = [
  "AUTH_SECRET_KEY",
  "AUTH_SECRET_KEY_PREVIOUS",
  "DATABASE_URL",
  "REDIS_URL",
] as const;
