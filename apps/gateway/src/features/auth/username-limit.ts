/**
 * Limits how often users change their usernames: each change is an event, which is kept for days, and a mirror follows it. Each
 * change is counted before it is made, so parallel requests cannot exceed the limit. The count is undone if it is not made.
 */
import type { User } from "@latchkey/database";
import { ServiceError } from "../../errors.ts";
import { secondsUntil } from "../../rate-limit/clock.ts";
import { USERNAME_CHANGES } from "../../rate-limit/limits.ts";
import type { Store } from "../../rate-limit/store.ts";

/**
 * Runs `change`, which can change the username of the user to `username`.
 * @throws TOO_MANY_REQUESTS before `change` runs, if it would
 */
export type LimitUsername = <Result>(
  user: Pick<User, "id" | "username">,
  username: string | undefined,
  change: () => Promise<Result>,
) => Promise<Result>;

export function createUsernameLimit(store: Store): LimitUsername {
  const { capacity, rejection: quota } = USERNAME_CHANGES;
  const changes = store.fixedWindow(USERNAME_CHANGES);
  return async (user, username, change) => {
    if (username === undefined || username === user.username) return change();
    const increment = await changes.increment(String(user.id));
    let isMade = false;
    try {
      if (increment.count > capacity) {
        const retryAfterSeconds = secondsUntil(increment.resetsAt);
        throw new ServiceError("TOO_MANY_REQUESTS", { quota, retryAfterSeconds });
      }
      const result = await change();
      isMade = true;
      return result;
    } finally {
      if (!isMade) await increment.undo();
    }
  };
}
