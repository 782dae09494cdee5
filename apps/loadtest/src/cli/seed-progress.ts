/** Tells how far the accounts are, at most once a second: making few takes no time worth a line. */
import type { Advance } from "../load/service-users.ts";

const EVERY_MS = 1000;

export function noteAccounts(note: (text: string) => void): Advance {
  let due = performance.now() + EVERY_MS;
  return (done, total) => {
    const now = performance.now();
    if (now < due) return;
    due = now + EVERY_MS;
    note(`Accounts: ${done} of ${total}\n`);
  };
}
