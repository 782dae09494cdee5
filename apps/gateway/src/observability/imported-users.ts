/** The number of users with an imported hash. Counting a million users takes seconds, so a scrape returns the last count. */
import type { UserRepository } from "@latchkey/database";
import { hashFormat } from "@latchkey/hashing";
import { Gauge, type Registry } from "prom-client";

const COUNT_INTERVAL_MS = 10 * 60 * 1000;

export function registerImportedUsers(
  registers: Registry[],
  users: Pick<UserRepository, "countImported">,
): void {
  const count = async (gauge: Gauge<"format">): Promise<void> => {
    const counts = await users.countImported(hashFormat);
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
