/** The limits that can keep a user out. The service counts them, and `users explain` reads them. */

const MINUTE_MS = 60 * 1000;

/** Logins per digest of an e-mail from unfamiliar networks: at most 106 a day. A 429 contains `rejection`. */
export const LOGIN_ATTEMPTS = {
  name: "login",
  capacity: 10,
  refillMs: 15 * MINUTE_MS,
  rejection: "too many attempts for this e-mail",
} as const;

/** Wrong values of `current_password` per user and token version. The key is that of `wrongPasswordKey`. */
export const WRONG_PASSWORDS = {
  name: "wrong-password",
  capacity: 10,
  windowMs: 24 * 60 * MINUTE_MS,
  rejection: "10 wrong current passwords per 1 day",
} as const;

/** The version, because tokens end with it: who guessed with a stolen token does not lock out the owner afterwards. */
export const wrongPasswordKey = ({
  id,
  tokenVersion,
}: {
  readonly id: number;
  readonly tokenVersion: number;
}): string => `${id}:${tokenVersion}`;
