/** Explains, in the order in which the service decides, what happens if a user logs in now. Each sentence about a state names its remedy. */
import type { AdminExplanation } from "@latchkey/contracts";
import {
  type FactorRepository,
  hasImportedHash,
  MAX_FACTOR_FAILURES,
  parseRecoveryCodes,
  type User,
  type UserRepository,
} from "@latchkey/database";
import { WRONG_PASSWORDS } from "@latchkey/limits";
import { describeUser } from "./reports.ts";

/** The configuration on which the result of a login depends. */
export interface LoginRules {
  readonly requiresVerifiedEmail: boolean;
  /** Whether an inactive user gets no token, because other services accept tokens without asking. */
  readonly refusesInactive: boolean;
  readonly sendsMail: boolean;
  readonly hasPasskeys: boolean;
  readonly hasIdentities: boolean;
  readonly hasSecondFactor: boolean;
}

/** What the counters of the limits say about a user. `off`: nothing is limited; `unknown`: the caller cannot read them. */
export type LoginLimits =
  | { readonly state: "off" }
  | { readonly state: "unknown"; readonly reason: string }
  | {
      readonly state: "read";
      readonly counters: string;
      /** Milliseconds until the next attempt from an unfamiliar network; 0: at once. */
      readonly attemptMs: number;
      readonly wrongPasswords: { readonly count: number; readonly remainingMs: number };
    };

export interface ExplanationOptions {
  readonly users: Pick<UserRepository, "countLoginMeans">;
  readonly factors: Pick<FactorRepository, "find" | "pauseSeconds">;
  /** Returns the format of an imported hash. */
  readonly formatOf: (importedHash: string) => string;
  readonly rules: LoginRules;
  readonly limits: LoginLimits;
}

const TOOL = "bun run admin users";

export const explainUnknown = (email: string): AdminExplanation => [
  {
    code: "unknown",
    message: "No user has this e-mail: every login gets 401 INVALID_CREDENTIALS.",
    command: `${TOOL} create ${email} --username NAME`,
  },
];

const MINUTE_MS = 60_000;
const MINUTES_PER_HOUR = 60;

/** Rounded up. */
function describeDuration(milliseconds: number): string {
  const minutes = Math.max(1, Math.ceil(milliseconds / MINUTE_MS));
  if (minutes === 1) return "one minute";
  return minutes < 2 * MINUTES_PER_HOUR
    ? `${minutes} minutes`
    : `${Math.ceil(minutes / MINUTES_PER_HOUR)} hours`;
}

/** What a login with the correct password gets if the state of the user does not prevent it; null if nothing succeeds. */
function explainSuccess(limits: LoginLimits, networks: number): string | null {
  const success = "A login with the correct password succeeds";
  if (limits.state === "off") return `${success}.`;
  if (limits.state === "unknown") return `${success}, unless it is limited.`;
  if (limits.attemptMs === 0) return `${success}: ${limits.counters} does not limit it.`;
  return networks > 0 ? `${success} only from the user's networks of the last 30 days (${networks}).` : null;
}

type Sentence = AdminExplanation[number];

/** What a user with a second factor needs after the first one; null if the user has none. */
async function explainFactor(
  user: User,
  factors: ExplanationOptions["factors"],
): Promise<Pick<Sentence, "code" | "message"> | null> {
  const factor = user.factorId === null ? null : await factors.find(user.id);
  if (!factor) return null;
  const left = parseRecoveryCodes(factor).length;
  const rest = `${left} recovery codes are left.`;
  if (factor.failures >= MAX_FACTOR_FAILURES)
    return {
      code: "factor_locked",
      message: `After ${factor.failures} wrong codes, the second factor accepts only recovery codes: others get 403 FACTOR_LOCKED. ${rest}`,
    };
  const pauseSeconds = await factors.pauseSeconds(user.id);
  const wait =
    pauseSeconds > 0 ? ` The next attempt is possible in ${describeDuration(pauseSeconds * 1000)}.` : "";
  return {
    code: "factor",
    message: `Every login but that with a passkey also needs a code of the user's application: 403 SECOND_FACTOR_REQUIRED. Wrong codes since the latest right one: ${factor.failures}.${wait} ${rest} If the user lost both:`,
  };
}

export async function explainLogin(user: User, options: ExplanationOptions): Promise<AdminExplanation> {
  const { users, formatOf, rules, limits } = options;
  const details = await describeUser(users, user);
  const { has_password: hasPassword, passkeys, identities, networks } = details;
  const format = hasImportedHash(user) ? formatOf(user.importedHash ?? "") : null;
  const command = (name: string) => ({ command: `${TOOL} ${name} ${user.id}` });
  const mailed = hasPassword ? command("send-reset") : { command: `${TOOL} invite ${user.email}` };
  const newPassword = rules.sendsMail ? mailed : command("set-password");
  const factor = await explainFactor(user, options.factors);
  const sentences: (Sentence | false)[] = [
    !user.isActive && {
      code: "inactive",
      message: rules.refusesInactive
        ? "The user is inactive: a login with the correct password gets 403 INACTIVE_USER."
        : "The user is inactive: a login with the correct password gets a token, with which every request gets 403 INACTIVE_USER.",
      ...command("activate"),
    },
    !hasPassword && {
      code: "no_password",
      message: "The user has no password: every password gets 401 INVALID_CREDENTIALS.",
      ...newPassword,
    },
    rules.requiresVerifiedEmail &&
      !user.emailVerified && {
        code: "unverified",
        message:
          "The e-mail is not verified: a login with the correct password gets 403 EMAIL_NOT_VERIFIED and a verification mail. A reset also verifies it.",
        ...command("send-reset"),
      },
    limits.state === "read" &&
      limits.attemptMs > 0 && {
        code: "limited",
        message: `From networks other than the user's of the last 30 days (${networks}), logins with this e-mail get 429 TOO_MANY_REQUESTS for ${describeDuration(limits.attemptMs)}, according to ${limits.counters}.${rules.sendsMail ? " The network of a reset is not limited:" : ""}`,
        ...(rules.sendsMail && newPassword),
      },
    limits.state === "unknown" && {
      code: "limits_unknown",
      message: `From networks other than the user's of the last 30 days (${networks}), logins with this e-mail can be limited, and changes that require current_password. ${limits.reason} The log has login.limited and password.limited.`,
    },
    format !== null && {
      code: "imported",
      message: `The password still has the hash of another system (${format}). The next login with it replaces the hash. If the password is lost:`,
      ...newPassword,
    },
    limits.state === "read" &&
      limits.wrongPasswords.count >= WRONG_PASSWORDS.capacity && {
        code: "locked",
        message: `After ${WRONG_PASSWORDS.capacity} wrong values of current_password, changes that require it get 429 TOO_MANY_REQUESTS for ${describeDuration(limits.wrongPasswords.remainingMs)}, according to ${limits.counters}. A login with the password ends this. A reset does not require it:`,
        ...newPassword,
      },
    factor !== null && { ...factor, ...command("remove-factor") },
    {
      code: "passkeys",
      message: `The user has ${passkeys} passkeys${rules.hasPasskeys ? "" : ", but logins with passkeys are off"}.`,
      ...(passkeys > 0 && command("remove-passkeys")),
    },
    {
      code: "identities",
      message: `The user has ${identities} identities of other services${rules.hasIdentities ? "" : ", but logins with them are off"}.`,
      ...(identities > 0 && command("remove-identities")),
    },
    {
      code: "last_login",
      message:
        user.lastLoginAt === null ? "No login is known." : `The latest login was at ${user.lastLoginAt}.`,
    },
  ];
  const found = sentences.filter((sentence) => sentence !== false);
  const isBlocked = found.some(({ code }) => ["inactive", "no_password", "unverified"].includes(code));
  const success = isBlocked ? null : explainSuccess(limits, networks);
  return success === null ? found : [{ code: "succeeds", message: success }, ...found];
}
