/** Counts how many attempts with mailed codes use the database at the same time. */
import type { Service } from "./service.ts";

export function watchCodeAttempts() {
  let running = 0;
  const seen = { attempts: 0, mostRunning: 0 };
  const wrapDatabase = ({ outbox }: Service["database"]) => ({
    outbox: {
      countCodeAttempt: (...attempt: Parameters<typeof outbox.countCodeAttempt>) => {
        seen.attempts += 1;
        running += 1;
        seen.mostRunning = Math.max(seen.mostRunning, running);
        return outbox.countCodeAttempt(...attempt).finally(() => {
          running -= 1;
        });
      },
    },
  });
  return { seen, wrapDatabase };
}
