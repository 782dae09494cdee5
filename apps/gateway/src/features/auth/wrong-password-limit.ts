/**
 * Limits the wrong values of `current_password` per user and token version. Each verification is counted before it starts, so
 * parallel requests cannot exceed the limit. The count is undone unless the value was wrong.
 */
import type { User } from "@latchkey/database";
import { WRONG_PASSWORDS, wrongPasswordKey } from "@latchkey/limits";
import { ServiceError } from "../../errors.ts";
import { secondsUntil } from "../../rate-limit/clock.ts";
import type { Store } from "../../rate-limit/store.ts";

type LimitedUser = Pick<User, "id" | "tokenVersion">;

export interface WrongPasswordLimit {
  /**
   * Runs `verify`, which returns whether the value was correct, and calls `mismatched` as soon as the value does not match as sent.
   * The value then counts as wrong unless `verify` returns true: a client can learn it from the error of a second verification.
   * @throws TOO_MANY_REQUESTS before `verify` runs
   */
  verify(user: LimitedUser, verify: (mismatched: () => void) => Promise<boolean>): Promise<boolean>;
  /** Called after a login with the password, which whoever guesses does not know. Never throws. */
  clear(user: LimitedUser): void | Promise<void>;
}

export function createWrongPasswordLimit(store: Store): WrongPasswordLimit {
  const users = store.fixedWindow(WRONG_PASSWORDS);
  return {
    async verify(user, verify) {
      const increment = await users.increment(wrongPasswordKey(user));
      const { count, resetsAt } = increment;
      let isWrong = false;
      try {
        if (count > WRONG_PASSWORDS.capacity) {
          const retryAfterSeconds = secondsUntil(resetsAt);
          throw new ServiceError("TOO_MANY_REQUESTS", {
            quota: WRONG_PASSWORDS.rejection,
            retryAfterSeconds,
          });
        }
        const matches = await verify(() => {
          isWrong = true;
        });
        isWrong = !matches;
        return matches;
      } finally {
        if (!isWrong) await increment.undo();
      }
    },
    clear: (user) => users.clear(wrongPasswordKey(user)),
  };
}
