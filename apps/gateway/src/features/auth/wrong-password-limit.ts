/**
 * Limits the wrong values of `current_password` per user. Each verification is counted before it starts, so parallel
 * requests cannot exceed the limit, and is taken back unless the value was wrong.
 */
import { ServiceError } from "../../errors.ts";
import type { CreateStore } from "../../rate-limit/store.ts";

const MAX_WRONG = 10;
const WINDOW_MS = 24 * 60 * 60 * 1000;

/**
 * Runs `verify`, which returns whether the value was correct.
 * @throws TOO_MANY_REQUESTS without running it
 */
export type WrongPasswordLimit = (userId: number, verify: () => Promise<boolean>) => Promise<boolean>;

export function createWrongPasswordLimit(createStore: CreateStore): WrongPasswordLimit {
  const store = createStore({ name: "wrong-password", windowMs: WINDOW_MS });
  return async (userId, verify) => {
    const increment = await store.increment(String(userId));
    const { count, resetsAt } = increment;
    let isWrong = false;
    try {
      if (count > MAX_WRONG) {
        const quota = `${MAX_WRONG} wrong current passwords per 1 day`;
        const retryAfterSeconds = Math.max(0, Math.ceil((resetsAt - Date.now()) / 1000));
        throw new ServiceError("TOO_MANY_REQUESTS", { quota, retryAfterSeconds });
      }
      isWrong = !(await verify());
      return !isWrong;
    } finally {
      if (!isWrong) await increment.undo();
    }
  };
}
