/** The number of users with an imported hash. A count of a million users takes a minute, so a scrape returns the last count. */
import type { UserRepository } from "@latchkey/database";
import { hashFormat } from "@latchkey/hashing";
import { Gauge, type Registry } from "prom-client";

const COUNT_INTERVAL_MS = 10 * 60 * 1000;
const PAGE_SIZE = 200;
/** Pause between two pages, because the embedded database blocks the event loop while it reads. */
const PAUSE_MS = 10;

export function registerImportedUsers(registers: Registry[], users: UserRepository): void {
  const count = async (gauge: Gauge<"format">): Promise<void> => {
    const counts = new Map<string, number>();
    for (let after = 0; ; await Bun.sleep(PAUSE_MS)) {
      const page = await users.list({ after, limit: PAGE_SIZE, isImported: true });
      for (const { importedHash } of page) {
        const format = hashFormat(importedHash ?? "");
        counts.set(format, (counts.get(format) ?? 0) + 1);
      }
      if (page.length < PAGE_SIZE) break;
      after = page.at(-1)?.id ?? after;
    }
    gauge.reset();
    for (const [format, number] of counts) gauge.set({ format }, number);
  };

  let startedAt = -COUNT_INTERVAL_MS;
  new Gauge({
    name: "imported_users",
    help: "Number of users with an imported hash by format, counted every ten minutes.",
    labelNames: ["format"] as const,
    registers,
    collect() {
      if (performance.now() - startedAt < COUNT_INTERVAL_MS) return;
      startedAt = performance.now();
      // After an error, the next count starts ten minutes later at the earliest.
      count(this).catch(() => undefined);
    },
  });
}
