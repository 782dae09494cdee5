/** Explains, in the order in which the service decides, what happens if a user logs in now. Each sentence about a state names its remedy. */
import type { AdminUserDetails } from "@latchkey/contracts";
import type { User } from "@latchkey/database";

/** The configuration on which the result of a login depends. */
export interface LoginRules {
  readonly requiresVerifiedEmail: boolean;
  /** Whether an inactive user gets no token, because other services accept tokens without asking. */
  readonly refusesInactive: boolean;
  /** Where attempts are counted. `none`: they are not limited. */
  readonly attempts: "none" | "memory" | "redis";
  readonly sendsMail: boolean;
  readonly hasPasskeys: boolean;
  readonly hasIdentities: boolean;
}

export interface Explanation {
  /** A stable name of the state. */
  readonly code: string;
  readonly message: string;
  /** The command of the admin tool that changes the state. */
  readonly command?: string;
}

const TOOL = "bun run admin users";

export const explainUnknown = (email: string): Explanation[] => [
  {
    code: "unknown",
    message: "No user has this e-mail: every login gets 401 INVALID_CREDENTIALS.",
    command: `${TOOL} create ${email} --username NAME`,
  },
];

const WHERE = { memory: "the memory of each replica", redis: "Redis" } as const;

/** @param format the format of the imported hash, or null */
export function explainLogin(
  user: User,
  details: AdminUserDetails,
  format: string | null,
  rules: LoginRules,
): Explanation[] {
  const { has_password: hasPassword, passkeys, identities, networks } = details;
  const command = (name: string) => ({ command: `${TOOL} ${name} ${user.id}` });
  const newPassword = command(rules.sendsMail ? (hasPassword ? "send-reset" : "invite") : "set-password");
  const sentences: (Explanation | false)[] = [
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
      ...(rules.sendsMail && { command: `${TOOL} invite ${user.email}` }),
    },
    rules.requiresVerifiedEmail &&
      !user.emailVerified && {
        code: "unverified",
        message:
          "The e-mail is not verified: a login with the correct password gets 403 EMAIL_NOT_VERIFIED and a verification mail. A reset also verifies it.",
        ...command("send-reset"),
      },
    rules.attempts !== "none" && {
      code: "limited",
      message: `From networks other than the ${networks} of the last 30 days, ten attempts for this e-mail are allowed, then one every 15 minutes: otherwise 429 TOO_MANY_REQUESTS. They are counted in ${WHERE[rules.attempts]}, which this command does not read; the log has login.limited. To see the networks:`,
      ...command("show"),
    },
    format !== null && {
      code: "imported",
      message: `The password still has the hash of another system (${format}). The next login with it replaces the hash. If the password is lost:`,
      ...newPassword,
    },
    rules.attempts !== "none" &&
      hasPassword && {
        code: "current_password",
        message: `After ten wrong values of current_password in a day, changes that require it get 429 until the day is over. They are counted in ${WHERE[rules.attempts]}; the log has password.limited. A reset needs no current_password:`,
        ...command("send-reset"),
      },
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
  const succeeds = {
    code: "succeeds",
    message: "A login with the correct password succeeds, unless it is limited.",
  };
  return isBlocked ? found : [succeeds, ...found];
}
