/**
 * Defines the limits of the service, except those of logins, which are in `packages/limits`. The documents and the OpenAPI
 * document take numbers and sentences from this file. Windows and buckets are stored in Redis or, without Redis, in the memory of
 * each replica. Mails are counted in the outbox.
 */
import type { VariableName } from "@latchkey/config";
import { FAMILIAR_NETWORK_DAYS } from "@latchkey/contracts";
import type { MailBudget } from "@latchkey/database";
import { type BucketLimit, LOGIN_ATTEMPTS, WRONG_PASSWORDS } from "@latchkey/limits";

/** The limit of a route. The environment variable `variable` sets the number of requests and the window. */
export interface RouteLimit {
  readonly variable: Exclude<Extract<VariableName, `RATE_LIMIT_${string}`>, "RATE_LIMIT_ENABLED">;
  /** For the OpenAPI document. `{quota}` is the default of the variable. */
  readonly description?: string;
}

const MINUTE_MS = 60 * 1000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Attempts with the code of a mail, which the outbox counts. They are limited also if rate limits are disabled. */
export const CODE_ATTEMPTS = 5;

/** Wrong API keys of the administration per client address. */
export const WRONG_API_KEYS = {
  name: "wrong-api-key",
  capacity: 20,
  windowMs: MINUTE_MS,
  rejection: "20 wrong keys per 1 minute",
} as const;

/** Changes of the username by its user that have an effect. Each of them is an event, which is kept for days. */
export const USERNAME_CHANGES = {
  name: "username-change",
  capacity: 10,
  windowMs: MINUTE_MS,
  rejection: "10 changes of the username per 1 minute",
} as const;

/** Codes of hosted login that a user exchanges: one account cannot fill the memory of used codes, which are kept as long. */
export const CODE_EXCHANGES = {
  name: "authorization-code-user",
  capacity: 60,
  windowMs: 2 * MINUTE_MS,
  rejection: "60 codes of a user per 2 minutes",
} as const;

const CODES = { kinds: ["login-code"], separatesFamiliar: true } as const;
const REFILLED = { capacity: 3, refillMs: 2 * HOUR_MS };

/**
 * Each kind of mail has a budget of its own, so that nobody can prevent a mail by causing others. To a verified recipient, the
 * notifications of a changed e-mail, of a removed second factor and of a deletion have no limit. To an unverified one, all
 * notifications share a budget: anybody can register with the address.
 */
export const MAIL_BUDGETS = {
  resets: { kinds: ["reset"], separatesFamiliar: true, ...REFILLED },
  verifications: { kinds: ["verification"], ...REFILLED },
  emailApprovals: { kinds: ["email-change-approval"], ...REFILLED },
  emailChanges: { kinds: ["email-change"], ...REFILLED },
  invitations: { kinds: ["invitation"], ...REFILLED },
  loginCodes: { ...CODES, capacity: 5, refillMs: 10 * MINUTE_MS },
  loginCodesPerDay: { ...CODES, capacity: 20, refillMs: DAY_MS },
  /** Anybody can register with the address. */
  unverifiedLoginCodes: { ...CODES, recipients: "unverified", capacity: 3, refillMs: DAY_MS },
  /** Only a user with a verified e-mail gets them, after a proof of the owner. */
  factorCodes: { kinds: ["factor-code"], capacity: 5, refillMs: 10 * MINUTE_MS },
  factorCodesPerDay: { kinds: ["factor-code"], capacity: 20, refillMs: DAY_MS },
  passwords: { recipients: "verified", kinds: ["password"], capacity: 5, refillMs: DAY_MS },
  passkeys: { recipients: "verified", kinds: ["passkey"], capacity: 10, refillMs: DAY_MS },
  identities: { recipients: "verified", kinds: ["identity"], capacity: 10, refillMs: DAY_MS },
  factors: { recipients: "verified", kinds: ["factor"], capacity: 10, refillMs: DAY_MS },
  recoveryCodes: { recipients: "verified", kinds: ["recovery-code"], capacity: 10, refillMs: DAY_MS },
  takeovers: { recipients: "verified", kinds: ["takeover"], capacity: 10, refillMs: DAY_MS },
  notifications: {
    recipients: "unverified",
    kinds: [
      ...(["password", "email", "passkey", "identity", "takeover", "deletion"] as const),
      ...(["factor", "factor-removed", "factor-failures", "recovery-code"] as const),
    ],
    capacity: 5,
    refillMs: DAY_MS,
  },
} as const satisfies Readonly<Record<string, MailBudget>>;

/** The requests of a user for a change of e-mail that have an effect in 24 hours. The mails in the outbox count them. */
export const EMAIL_CHANGE_REQUESTS = 3;

/** Returns a number up to ten in words, and any other number in digits, as the documents do. */
export const inWords = (number: number): string =>
  "zero one two three four five six seven eight nine ten".split(" ")[number] ?? String(number);

/** Returns, for example, `ten, then one every 15 minutes`. `noun` is inserted after the first number. */
export function describeRefill({ capacity, refillMs }: Omit<BucketLimit, "name">, noun = ""): string {
  const minutes = refillMs / MINUTE_MS;
  const pause = minutes < 60 ? `${inWords(minutes)} minutes` : `${inWords(minutes / 60)} hours`;
  return `${inWords(capacity)}${noun}, then one every ${pause}`;
}

const own = (requests: string, details = "per client address."): string =>
  `${requests} have their own limit, by default {quota} ${details}`;

/** Limits per client address, for password changes also per user. The `detail` of a 429 contains the quota: `5 per 1 minute`. */
export const ROUTE_LIMITS = {
  default: { variable: "RATE_LIMIT_DEFAULT" },
  login: {
    variable: "RATE_LIMIT_LOGIN",
    description: own(
      "Logins",
      `per client address. For each e-mail, registered or not, attempts from networks from which its user has not registered or logged in within ${FAMILIAR_NETWORK_DAYS} days and since the latest password change are also limited: ${describeRefill(LOGIN_ATTEMPTS)}.`,
    ),
  },
  passkeyLogin: { variable: "RATE_LIMIT_LOGIN", description: own("Logins with passkeys") },
  oidcLogin: {
    variable: "RATE_LIMIT_LOGIN",
    description: own(
      "Logins with providers",
      "per client address. A new user also counts as a registration.",
    ),
  },
  emailLogin: { variable: "RATE_LIMIT_LOGIN", description: own("Logins with codes") },
  factorLogin: {
    variable: "RATE_LIMIT_LOGIN",
    description: own(
      "Attempts with a second factor",
      "per client address. Attempts with codes of the application are also limited per user: five, then one a minute, from ten on one every 15 minutes, from twenty on one an hour. After 100 without a success, only recovery codes are accepted.",
    ),
  },
  codeExchange: {
    variable: "RATE_LIMIT_LOGIN",
    description: own(
      "Rejected codes",
      `per client address. A user can exchange ${CODE_EXCHANGES.capacity} codes in two minutes.`,
    ),
  },
  register: { variable: "RATE_LIMIT_REGISTER", description: own("Registrations") },
  passwordChange: {
    variable: "RATE_LIMIT_PASSWORD_CHANGE",
    description: own(
      "Updates with a password or a current password",
      `per user and per client address. After ${WRONG_PASSWORDS.capacity} wrong current passwords of a user in one day, updates with a current password return 429 for the rest of that day. A login with the password, and a change of the token version, start this count anew.`,
    ),
  },
  mail: { variable: "RATE_LIMIT_MAIL", description: own("Requests for mails") },
} as const satisfies Readonly<Record<string, RouteLimit>>;

/** The limit of operations that verify `current_password`. */
export const OWNER_LIMIT = {
  quota: "passwordChange",
  per: "user",
  description:
    "Counts against the limits of updates with a current password, by default {quota} per user and per client address.",
} as const;

/** A quota that operations choose. */
export type QuotaName = Exclude<keyof typeof ROUTE_LIMITS, "default">;

/**
 * After this many rejections of a client in one window, each further rejection is delayed. Otherwise, a client that sends requests
 * as fast as possible keeps the event loop busy with rejections, and takes processor time from the hashing threads.
 */
export const MAX_PROMPT_REJECTIONS = 1000;
export const REJECTION_DELAY_MS = 1000;
