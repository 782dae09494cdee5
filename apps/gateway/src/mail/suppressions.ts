/** Logs the suppressed mails: one line for each kind and user of a sweep, so that a flood of requests is no flood of lines. */
import type { MailKind } from "@latchkey/contracts";
import type { Logger } from "../observability/logger.ts";

export interface Suppressions {
  add(kind: MailKind, userId: number | null, count: number): void;
  /** Logs what was added since the last call. */
  flush(): void;
}

export function createSuppressions(logger: Pick<Logger, "info">): Suppressions {
  const counts = new Map<
    string,
    { readonly kind: MailKind; readonly user_id: number | null; count: number }
  >();
  return {
    add(kind, userId, count) {
      const key = `${kind} ${userId}`;
      const added = counts.get(key) ?? { kind, user_id: userId, count: 0 };
      added.count += count;
      counts.set(key, added);
    },
    flush() {
      for (const line of counts.values())
        logger.info({ event: "mail.suppressed", ...line }, "mail.suppressed");
      counts.clear();
    },
  };
}
