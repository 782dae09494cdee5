/** Defines every environment variable. Parsing, messages, `--check-config` and the documentation use these definitions. */
import { PASSWORD_MIN_LENGTH } from "@latchkey/contracts";
import { apiKeys } from "./api-keys.ts";
import { databaseUrl, isUnencrypted } from "./database-url.ts";
import { privateKey, publicKey } from "./key-pair.ts";
import { languages } from "./languages.ts";
import { loginClients } from "./login-clients.ts";
import { mailTexts, PRODUCT_NAME_MAX_LENGTH, textsOf, warnAboutMissingTexts } from "./mail-texts.ts";
import { hostOf, isPublicAddress, leavesMachine } from "./network.ts";
import { oidcProviders, redirectUris } from "./oidc-providers.ts";
import { productLogo } from "./product-logo.ts";
import {
  baseUrl,
  boolean,
  buttonColor,
  host,
  InvalidValue,
  invalid,
  type Kind,
  link,
  linkTemplate,
  listOf,
  mailUrl,
  oneOf,
  origins,
  passkeyOrigins,
  quota,
  text,
  type Variable,
  variable,
  wholeNumber,
} from "./variable-kinds.ts";

const port = wholeNumber(0, 65_535);
/** Bun counts in steps of four seconds, and stores at most 255. */
const idleTimeout: Kind<number> = {
  accepted: "0, or a whole number from 10 to 255",
  parse: (value) => (value === "0" ? 0 : wholeNumber(10, 255).parse(value, String)),
};
const name = text("1 to 255 characters without white space", /^\S{1,255}$/);
/** The path must be a number: the client's errors contain any other, which can be the rest of a password with a slash. */
const REDIS_URL = /^rediss?:\/\/[^\s/?#]+(\/\d*)?(\?[^\s@]*)?$/;
const redisUrl: Kind<string> = {
  accepted: "redis://:PASSWORD@HOST:PORT or rediss://…",
  parse: (value) => (REDIS_URL.test(value) && URL.canParse(value) ? value : invalid()),
};
/** Rejects PEM. If the secret key were a public key, everybody could sign tokens. */
const secretKey: Kind<string> = {
  accepted: "a random secret, such as the output of `openssl rand -base64 48`",
  parse: (value) => (value.includes("-----BEGIN ") ? invalid("is a PEM block") : value || invalid()),
};
/** 32 bytes: a key of AES-256. */
const factorKey: Kind<string> = {
  accepted: "32 bytes in base64url, such as the output of `openssl rand -base64 32 | tr +/ -_ | tr -d =`",
  parse: (value) => {
    const bytes = Buffer.from(value, "base64url");
    return bytes.length === 32 && bytes.toString("base64url") === value ? value : invalid();
  },
};
/** A name that is not a sequence of atoms (RFC 5322), such as `Acme, Inc.`, is quoted or encoded in the header. */
const SENDER_NAME = /(?!.*=\?)[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}<>"\\]{1,64}/u.source;
const SENDER_ADDRESS = /[^\s@<>",]+@[^\s@<>.,]+(?:\.[^\s@<>.,]+)+/u.source;
const sender = text(
  "ADDRESS or NAME <ADDRESS>, such as Example <accounts@example.com>",
  new RegExp(`^(?:${SENDER_ADDRESS}|(?:"${SENDER_NAME}"|${SENDER_NAME}) <${SENDER_ADDRESS}>)$`, "u"),
);
const productName = text(
  `1 to ${PRODUCT_NAME_MAX_LENGTH} characters in one line`,
  new RegExp(`^(?!\\s)[^\\p{Cc}\\p{Zl}\\p{Zp}]{1,${PRODUCT_NAME_MAX_LENGTH}}(?<!\\s)$`, "u"),
);
const warnAboutHttp = (url: string): string | null =>
  url.startsWith("http:") && leavesMachine(url) ? "is not https: others can read the links in mails" : null;
const linkVariable = (page: string, purpose: string) =>
  variable(linkTemplate, {
    unset: `\`/account/${page}#token={token}\` of \`PUBLIC_URL\``,
    warn: (template) =>
      /#.*\{token\}/.test(template)
        ? warnAboutHttp(template)
        : "has {token} outside of the fragment: the token gets into logs and Referer headers; put it after a #",
  }).describe(`Page of your application that ${purpose}`);
const otherPublicKey = (which: "next" | "previous") =>
  variable(publicKey, { file: true }).describe(
    `Public key of the ${which} \`AUTH_PRIVATE_KEY\`: published, and verifies its tokens, also while \`AUTH_ALGORITHM\` is an HS algorithm`,
  );
/** The address of a port that only `clients` must reach. */
const privateHost = (port: "METRICS_PORT" | "ADMIN_PORT", name: string, clients: string) =>
  variable(host, {
    default: "127.0.0.1",
    warn: (address, { isSet }) =>
      isSet(port) && isPublicAddress(address)
        ? `is a public address; make sure that only ${clients} can reach the ${name} port`
        : null,
  }).describe(`Address of the ${name} port. Never publish it`);
const MINUTES_PER_DAY = 1440;
/** With one of these features, whoever has the password can take the account for good. */
const TAKEOVER_FEATURES = [
  "AUTH_EMAIL_CHANGE",
  "PASSKEY_ORIGINS",
  "OIDC_PROVIDERS",
  "AUTH_SECOND_FACTOR",
] as const;
const KERNELS = "sha-ni-avx512, avx512, avx2, sha-ni, armv8, portable";

export const VARIABLES = {
  NODE_ENV: variable(oneOf("development", "test", "production"), { default: "development" }).describe(
    "`production` requires a strong secret and an explicit database, and adds HSTS",
  ),
  HOST: variable(host, { default: "127.0.0.1" }).describe("Address of the service; the image sets `0.0.0.0`"),
  PORT: variable(port, { default: "3000" }).describe("Port of the service; with `0`, the system chooses"),
  IDLE_TIMEOUT_SECONDS: variable(idleTimeout, { default: "75" }).describe(
    "Idle time until a connection is closed, at most four seconds early; `0` for never. At least five seconds longer " +
      "than a proxy keeps idle connections",
  ),
  DATABASE_URL: variable(databaseUrl, {
    default: "file:./data/latchkey.db",
    requiredInProduction: true,
    secret: "url",
    warn: (url, { isProduction }) => {
      if (isUnencrypted(url))
        return "connects to another host without encryption; add sslmode=verify-full (at least sslmode=require)";
      return isProduction && url.startsWith("file:")
        ? "names an embedded database, which supports one machine only; use PostgreSQL in production"
        : null;
    },
  }).describe(
    "`file:PATH` (embedded; relative to the repository) or `postgres://USER:PASSWORD@HOST:PORT/NAME`, with " +
      "`?sslmode=verify-full` if it is on another host",
  ),
  DATABASE_POOL_SIZE: variable(wholeNumber(1, 1000), { default: "10" }).describe(
    "Maximum connections to PostgreSQL in the pool of each process; twice as many and two more while it replaces them",
  ),
  DATABASE_PREPARED_STATEMENTS: variable(oneOf("auto", "true", "false"), { default: "auto" }).describe(
    "`auto` prepares statements only on connections that are proved to be direct, `true` always, `false` never",
  ),
  AUTH_SECRET_KEY: variable(secretKey, {
    unset: "generated and stored next to a `file:` database, unless `AUTH_PRIVATE_KEY` is set",
    secret: "all",
  }).describe(
    "Signs tokens with HS algorithms; required in production and with PostgreSQL, unless `AUTH_PRIVATE_KEY` " +
      "is set. In production: at least 32, 48 or 64 bytes (the algorithm's digest), 8 distinct characters, no placeholder",
  ),
  AUTH_SECRET_KEY_PREVIOUS: variable(secretKey, { secret: "all" }).describe(
    "Also verifies tokens, for key rotation; with ES256 or EdDSA, those of HS256. In production, as strong as the key",
  ),
  AUTH_ALGORITHM: variable(oneOf("HS256", "HS384", "HS512", "ES256", "EdDSA"), { default: "HS256" }).describe(
    "Signature algorithm of tokens; ES256 and EdDSA use `AUTH_PRIVATE_KEY`",
  ),
  AUTH_PRIVATE_KEY: variable(privateKey, {
    unset: "none; required with ES256 and EdDSA",
    secret: "all",
  }).describe(
    "Signs tokens, in place of `AUTH_SECRET_KEY`: P-256 for ES256, Ed25519 for EdDSA. Its public key is published at " +
      "`/.well-known/jwks.json`. Line breaks can be `\\n`",
  ),
  AUTH_NEXT_PUBLIC_KEY: otherPublicKey("next"),
  AUTH_PREVIOUS_PUBLIC_KEY: otherPublicKey("previous"),
  AUTH_ISSUER: variable(name).describe(
    "Claim `iss` of tokens; if set, tokens without this issuer are rejected",
  ),
  AUTH_AUDIENCE: variable(name).describe(
    "Claim `aud` of tokens; if set, tokens without this audience are rejected",
  ),
  AUTH_TOKEN_EXPIRE_MINUTES: variable(wholeNumber(1, 525_600), {
    default: "60",
    warn: (minutes) =>
      minutes > MINUTES_PER_DAY ? "is more than a day (1440); a stolen token stays valid for as long" : null,
  }).describe("Lifetime of tokens"),
  AUTH_CLAIMS: variable(listOf("roles", "email_verified", "claims")).describe(
    "Further claims of tokens, which describe the user at the time of issue: `claims` are those of the application; " +
      "`roles` and `claims` are then also in each response with a user",
  ),
  AUTH_RENEWAL_DAYS: variable(wholeNumber(0, 90), { default: "0" }).describe(
    "Days after a login within which its tokens, also leaked ones, can be renewed until they are revoked; `0` for none",
  ),
  AUTH_RENEWAL_IDLE_HOURS: variable(wholeNumber(0, 168), { default: "0" }).describe(
    "Hours after its expiry within which a token can still be renewed; " +
      "requires `AUTH_RENEWAL_DAYS`. Each leaked token then works like a refresh token for so long",
  ),
  AUTH_REQUIRE_CURRENT_PASSWORD: variable(boolean, {
    default: ({ isOn }) => String(TAKEOVER_FEATURES.some(isOn)),
    unset: `\`true\` with ${TAKEOVER_FEATURES.map((name) => `\`${name}\``).join(", ")}, otherwise \`false\``,
    warn: (isRequired, { isOn }) => {
      const feature = TAKEOVER_FEATURES.find(isOn);
      return isRequired || feature === undefined
        ? null
        : `is false with ${feature}: a stolen token can set a password, and with the password take the account`;
    },
  }).describe(
    "With `true`, a new password requires the current one, and `DELETE` of a passkey or identity is rejected: `POST …/removal` always requires it",
  ),
  AUTH_REGISTRATION: variable(oneOf("open", "closed"), { default: "open" }).describe(
    "With `closed`, nobody can register or get an account by a first login; invitations, the administration and imports still create users",
  ),
  AUTH_EMAIL_CHANGE: variable(boolean, { default: "false" }).describe(
    "`true` lets users change their e-mail; requires mail, and " +
      "`PUBLIC_URL` or both `MAIL_EMAIL_APPROVAL_URL` and `MAIL_EMAIL_CHANGE_URL`",
  ),
  AUTH_REQUIRE_VERIFIED_EMAIL: variable(boolean, { default: "false" }).describe(
    "`true` rejects logins and renewals of users with an unverified e-mail, and mails them a verification; requires mail",
  ),
  AUTH_EMAIL_LOGIN: variable(boolean, { default: "false" }).describe(
    "`true` lets users log in with a code from a mail; requires mail",
  ),
  AUTH_SECOND_FACTOR: variable(boolean, { default: "false" }).describe(
    "`true` lets users protect their logins with codes of an app (TOTP). Set it after the last replica of 2.0 has ended",
  ),
  AUTH_FACTOR_KEY: variable(factorKey, {
    unset: "generated and stored next to a `file:` database, with `AUTH_SECOND_FACTOR`",
    secret: "all",
  }).describe(
    "Encrypts the secrets of second factors; required with `AUTH_SECOND_FACTOR` in production and with PostgreSQL. " +
      "Without it, the service does not start while a user has a second factor",
  ),
  AUTH_FACTOR_KEY_PREVIOUS: variable(factorKey, { secret: "all" }).describe(
    "Also decrypts them, for key rotation: `bun run admin factors rekey`",
  ),
  OIDC_PROVIDERS: variable(oidcProviders, { unset: "no logins with other services", secret: "all" }).describe(
    'OpenID Connect providers. With `"link": true`, a provider can log in to every account whose e-mail it states as verified and that has no second factor',
  ),
  OIDC_REDIRECT_URIS: variable(redirectUris).describe(
    "Pages of the application to which providers redirect, compared exactly, except the port at `127.0.0.1` and `[::1]`; required with `OIDC_PROVIDERS`",
  ),
  LOGIN_CLIENTS: variable(loginClients, { unset: "no hosted login", file: true }).describe(
    "Your applications that send users to the pages of this service to log in, as clients of OAuth. Requires `PUBLIC_URL`, " +
      "and the same value as `AUTH_ISSUER`",
  ),
  PASSWORD_MIN_LENGTH: variable(wholeNumber(PASSWORD_MIN_LENGTH, 64), {
    default: String(PASSWORD_MIN_LENGTH),
  }).describe("Minimum length of new passwords"),
  PASSWORD_BLOCKLIST: variable(
    text("a file of passwords, or of SHA-1 digests in hex, one per line", /./s),
  ).describe("Passwords that nobody can choose, also not in capital letters"),
  PASSKEY_ORIGINS: variable(passkeyOrigins, { unset: "no passkeys" }).describe(
    "Origins of the pages that create passkeys or log in with them",
  ),
  PASSKEY_RP_ID: variable(text("a domain such as example.com", /^[a-z0-9-]+(\.[a-z0-9-]+)*$/), {
    unset: "the host of the first origin",
  }).describe(
    "The host of every origin, or a parent domain. Passkeys are bound to it: a change makes all of them useless",
  ),
  CORS_ORIGINS: variable(origins, {
    default: ({ isProduction }) => (isProduction ? "" : "*"),
    unset: "`*`; none in production",
    // Outside production, `*` is the default, because an application on any local port should work.
    warn: (value, { isProduction }) =>
      isProduction && value === "*" ? "allows every website to call the API; list the origins instead" : null,
  }).describe("Origins of browser applications that can call the API; `*` for any"),
  TRUST_PROXY: variable(wholeNumber(0, 32), { default: "0" }).describe(
    "Number of proxies in front of the service. With `n`, the client is the n-th `X-Forwarded-For` entry from the " +
      "right. Safe only if the port is reachable only through the proxies",
  ),
  RATE_LIMIT_ENABLED: variable(boolean, {
    default: "true",
    warn: (isEnabled) => (isEnabled ? null : "is false: rate limits are disabled"),
  }).describe("`false` disables the limits of requests and password guesses, for load tests"),
  RATE_LIMIT_DEFAULT: variable(quota, { default: "6000/minute" }).describe(
    "Requests per client, except probes, preflights and static assets",
  ),
  RATE_LIMIT_LOGIN: variable(quota, { default: "5/minute" }).describe(
    "Logins per client; each way, second factors and rejected codes of hosted login are counted apart",
  ),
  RATE_LIMIT_REGISTER: variable(quota, { default: "3/minute" }).describe("Registrations per client"),
  RATE_LIMIT_PASSWORD_CHANGE: variable(quota, { default: "5/minute" }).describe(
    "Updates with `password` or `current_password`, changes of e-mail, new and removed passkeys, identities and second factors, " +
      "per user and per client; reset confirmations, per client",
  ),
  RATE_LIMIT_MAIL: variable(quota, { default: "5/minute" }).describe("Requests for mails per client"),
  MAIL_URL: variable(mailUrl, {
    unset: "mails are files in `outbox/` beside a `file:` database, else in `data/`; in production, no mail",
    secret: "url",
    warn: ({ ignoreTLS }) =>
      ignoreTLS ? "sends passwords and links without encryption; remove tls=off" : null,
  }).describe(
    "Mail server: `smtps://`, or `smtp://` with STARTTLS, which only a server on this machine can lack. `?tls=off` " +
      "sends plaintext. Requires `MAIL_FROM`, and `PUBLIC_URL` or both `MAIL_RESET_URL` and `MAIL_VERIFICATION_URL`",
  ),
  MAIL_FROM: variable(sender).describe("Sender of mails; the address in ASCII"),
  PUBLIC_URL: variable(baseUrl, {
    unset: "none; for mails in files, the address of the port",
    warn: warnAboutHttp,
  }).describe(
    "Where users reach this service, with the prefix that a proxy removes, if any, for links in mails",
  ),
  MAIL_RESET_URL: linkVariable("reset-password", "resets a password"),
  MAIL_VERIFICATION_URL: linkVariable("verify-email", "verifies an address"),
  MAIL_EMAIL_APPROVAL_URL: linkVariable("approve-email", "approves a change of e-mail"),
  MAIL_EMAIL_CHANGE_URL: linkVariable("change-email", "confirms a change of e-mail"),
  MAIL_INVITATION_URL: linkVariable("invitation", "accepts an invitation"),
  MAIL_TEXTS: variable(mailTexts, { unset: "built-in texts", warn: warnAboutMissingTexts }).describe(
    "Folder of texts in place of the built-in ones, or a JSON object of folders by language",
  ),
  LANGUAGES: variable(languages, { default: "en" }).describe(
    "Languages of mails and pages, the default first. With more than one, users have a `locale`",
  ),
  PRODUCT_NAME: variable(productName, { unset: "your account" }).describe(
    "Name of your product, in mails and on the pages of accounts",
  ),
  PRODUCT_URL: variable(link, { unset: "no link" }).describe(
    "Page of your product, linked in mails and on these pages",
  ),
  PRODUCT_COLOR: variable(buttonColor, { default: "#2457a6" }).describe(
    "Colour of the primary action on the pages of accounts, under white text",
  ),
  PRODUCT_LOGO: variable(productLogo, { unset: "the name" }).describe(
    "Logo of your product on the pages of accounts, in place of its name, and the icon of all pages",
  ),
  TODOS_ENABLED: variable(boolean, { default: "true" }).describe(
    "`false` removes the routes of todos, which need no token",
  ),
  REDIS_URL: variable(redisUrl, {
    unset: "requests are counted per process",
    secret: "url",
    warn: (url) =>
      url.startsWith("redis:") && leavesMachine(url)
        ? "connects to another host without encryption; use rediss://"
        : null,
  }).describe("Redis or Valkey that counts requests and login attempts for all replicas"),
  HASH_WORKERS: variable(wholeNumber(1, 1024), {
    unset: "the number of cores available to this process",
  }).describe("Worker threads that hash passwords"),
  HASH_QUEUE_LIMIT: variable(wholeNumber(0, 1_000_000), {
    unset: "what the recently achieved capacity does in `HASH_QUEUE_SECONDS`, at least 64",
  }).describe("Maximum waiting derivations, in units of 600,000 iterations; further requests get 503"),
  HASH_QUEUE_SECONDS: variable(wholeNumber(1, 3600), { default: "5" }).describe(
    "Maximum time a derivation waits for a lane, then 503; at most 500 ms during sustained overload",
  ),
  HASH_KERNEL: variable(text(`auto, or a kernel that the machine supports: ${KERNELS}`, /./s), {
    default: "auto",
  }).describe("Kernel that hashes passwords"),
  HASH_NICE: variable(wholeNumber(0, 19), { default: "5" }).describe(
    "Nice value of the hashing threads; Linux only",
  ),
  LOG_LEVEL: variable(oneOf("trace", "debug", "info", "warn", "error", "fatal", "silent"), {
    default: "info",
  }).describe("Lowest level that is logged; probes are logged at `debug`"),
  LOG_FORMAT: variable(oneOf("json", "pretty"), {
    default: ({ isTerminal }) => (isTerminal ? "pretty" : "json"),
    unset: "`pretty` on a terminal, otherwise `json`",
  }).describe("Format of the log"),
  METRICS_PORT: variable(port, { unset: "no metrics" }).describe(
    "Port of Prometheus metrics (`/metrics`), other than `PORT`",
  ),
  METRICS_HOST: privateHost("METRICS_PORT", "metrics", "Prometheus"),
  ADMIN_PORT: variable(port, { unset: "no administration over HTTP" }).describe(
    "Port of the administration over HTTP, other than `PORT` and `METRICS_PORT`. Requires `ADMIN_API_KEYS`, `ADMIN_READ_KEYS` or `ADMIN_EVENT_KEYS`",
  ),
  ADMIN_HOST: privateHost("ADMIN_PORT", "administration", "your programs"),
  ADMIN_API_KEYS: variable(apiKeys, { secret: "all" }).describe(
    "The programs that can administer users, each with its key",
  ),
  ADMIN_READ_KEYS: variable(apiKeys, { secret: "all" }).describe(
    "The programs that can only read users and account events, each with its key",
  ),
  ADMIN_EVENT_KEYS: variable(apiKeys, { secret: "all" }).describe(
    "The programs that can only read account events, which have neither names nor addresses, each with its key",
  ),
  SHUTDOWN_GRACE_SECONDS: variable(wholeNumber(0, 3600), { default: "10" }).describe(
    "Maximum time for requests to finish after SIGTERM",
  ),
  SHUTDOWN_DELAY_SECONDS: variable(wholeNumber(0, 3600), { default: "0" }).describe(
    "Time to keep serving after SIGTERM, not ready, before the grace period",
  ),
};

export type VariableName = keyof typeof VARIABLES;
export type Values = {
  readonly [Name in VariableName]: (typeof VARIABLES)[Name] extends Variable<infer Value> ? Value : never;
};
export type AuthAlgorithm = Values["AUTH_ALGORITHM"];

/** Whether the service sends mails or writes mails to files. In production without `MAIL_URL`, the service does neither. */
export const sendsMail = ({ MAIL_URL, NODE_ENV }: Pick<Values, "MAIL_URL" | "NODE_ENV">): boolean =>
  MAIL_URL !== null || NODE_ENV !== "production";

/** The variables of {@link mailOptions}. */
export const MAIL_OPTIONS = [
  "PUBLIC_URL",
  "MAIL_RESET_URL",
  "MAIL_VERIFICATION_URL",
  "MAIL_EMAIL_APPROVAL_URL",
  "MAIL_EMAIL_CHANGE_URL",
  "MAIL_INVITATION_URL",
  "MAIL_TEXTS",
  "LANGUAGES",
  "PRODUCT_NAME",
  "PRODUCT_URL",
  "PRODUCT_COLOR",
] as const;

/** The options of the links and texts in mails. */
export const mailOptions = (values: Pick<Values, (typeof MAIL_OPTIONS)[number]>) => ({
  publicUrl: values.PUBLIC_URL,
  linkTemplates: {
    reset: values.MAIL_RESET_URL,
    verification: values.MAIL_VERIFICATION_URL,
    "email-change-approval": values.MAIL_EMAIL_APPROVAL_URL,
    "email-change": values.MAIL_EMAIL_CHANGE_URL,
    invitation: values.MAIL_INVITATION_URL,
  },
  languages: values.LANGUAGES,
  texts: textsOf(values.MAIL_TEXTS, values.LANGUAGES),
  product: { name: values.PRODUCT_NAME, url: values.PRODUCT_URL },
  color: values.PRODUCT_COLOR,
});

/** The domain to which passkeys are bound. */
export const passkeyRpId = (values: Pick<Values, "PASSKEY_ORIGINS" | "PASSKEY_RP_ID">): string =>
  values.PASSKEY_RP_ID ?? hostOf(values.PASSKEY_ORIGINS?.[0] ?? "");

/** The names in the order of the definitions. The cast is safe because `VARIABLES` has exactly these keys. */
export const VARIABLE_NAMES = Object.keys(VARIABLES) as VariableName[];

/** Checks `HASH_KERNEL`. The accepted kernels depend on the machine. */
export const validateKernel =
  (kernels: readonly string[]) =>
  (name: string): void => {
    if (name === "auto" || kernels.includes(name)) return;
    throw new InvalidValue(`${JSON.stringify(name)} is not supported on this machine`, {
      accepted: ["auto", ...kernels].join(", "),
    });
  };
