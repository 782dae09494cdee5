/** The accounts of a load test by their number, from 0: nothing needs to be kept of them, however many there are. */

export interface Account {
  readonly email: string;
  readonly username: string;
  readonly password: string;
}

/** One for all: whoever may register may try it, so it protects nothing. */
const PASSWORD = "a load test's password";

export const accountOf = (index: number): Account => ({
  email: `loadtest-${index + 1}@example.org`,
  username: `loadtest-${index + 1}`,
  password: PASSWORD,
});

/** An address that no account has. */
export const strangerOf = (index: number): string => `loadtest-stranger-${index + 1}@example.org`;
