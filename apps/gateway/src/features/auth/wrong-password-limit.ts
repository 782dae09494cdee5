/**
 * Limits the wrong values of `current_password` per user. Each verification is counted before it starts, so parallel
 * requests cannot exceed the limit. The count is undone unless the value was wrong.
 */
import { WRONG_PASSWORDS } from "@latchkey/contracts";
import { ServiceError } from "../../errors.ts";
import { secondsUntil } from "../../rate-limit/clock.ts";
import type { Store } from "../../rate-limit/store.ts";

/**
 * Runs `verify`, which returns whether the value was correct.
 * @throws TOO_MANY_REQUESTS before `verify` runs
 */
export type WrongPasswordLimit = (userId: number, verify: () => Promise<boolean>) => Promise<boolean>;

export function createWrongPasswordLimit(store: Store): WrongPasswordLimit {
  const users = store.fixedWindow(WRONG_PASSWORDS);
  return async (userId, verify) => {
    const increment = await users.increment(String(userId));
    const { count, resetsAt } = increment;
    let isWrong = false;
    try {
      if (count > WRONG_PASSWORDS.capacity) {
        const retryAfterSeconds = secondsUntil(resetsAt);
        throw new ServiceError("TOO_MANY_REQUESTS", { quota: WRONG_PASSWORDS.rejection, retryAfterSeconds });
      }
      isWrong = !(await verify());
      return !isWrong;
    } finally {
      if (!isWrong) await increment.undo();
    }
  };
}
