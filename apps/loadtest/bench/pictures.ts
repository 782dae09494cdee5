/**
 * Creates the screenshots of reports in the README, `docs/load-*.png`: logins at a rate close to the capacity of each kernel, on
 * both databases. `bun run pictures` runs it; it takes three minutes on an otherwise idle machine.
 */
import { join } from "node:path";
import { describeMachine } from "@latchkey/cli";
import { print } from "@latchkey/testing/benchmark";
import { DESKTOP, openBrowser } from "@latchkey/testing/chromium";
import { openFolder } from "@latchkey/testing/folder";
import { startService } from "@latchkey/testing/measured-service";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { freePort } from "@latchkey/testing/server-process";

const MAIN = join(import.meta.dir, "../src/main.ts");
const DOCS = join(import.meta.dir, "../../../docs");
const SECONDS = 30;
/** Logins per second: about 80 % of the capacity of two cores of the README's machine. */
const RATES = { auto: 70, portable: 16 } as const;

print(describeMachine());
await using folder = await openFolder();
await using postgres = await startPostgresServer();
await using browser = await openBrowser();
const databases = { libsql: folder.databaseUrl, postgres: await postgres.createDatabase() };

for (const [kind, database] of Object.entries(databases)) {
  for (const [kernel, rate] of Object.entries(RATES)) {
    const metricsPort = String(freePort());
    await using service = await startService({
      DATABASE_URL: database,
      HASH_KERNEL: kernel,
      METRICS_PORT: metricsPort,
      RATE_LIMIT_ENABLED: "false",
    });
    const name = `load-${kind}-${kernel}`;
    const report = join(folder.path, name);
    const asked = { url: service.url, metrics: `http://127.0.0.1:${metricsPort}`, rate, duration: SECONDS };
    const flags = Object.entries({ ...asked, report }).flatMap(([flag, value]) => [`--${flag}`, `${value}`]);
    const child = Bun.spawn([process.execPath, MAIN, ...flags], { stdio: ["ignore", "inherit", "ignore"] });
    if ((await child.exited) !== 0) throw new Error(`${name} exited with ${child.exitCode}`);
    const { page } = await browser.visit(`file://${report}.html`, DESKTOP);
    await page.screenshot({ path: join(DOCS, `${name}.png`), fullPage: true, animations: "disabled" });
    print(`docs/${name}.png\n`);
  }
}
