/**
 * Creates the screenshots of reports in `docs/capacity.md`, `docs/load-*.png`: a capacity search, and logins at
 * 80 % of what it found.
 * `bun run pictures` runs it; it takes three minutes on an otherwise idle machine.
 */
import { join } from "node:path";
import { describeMachine } from "@latchkey/cli";
import { print } from "@latchkey/testing/benchmark";
import { DESKTOP, openBrowser } from "@latchkey/testing/chromium";
import { openFolder } from "@latchkey/testing/folder";
import { startService } from "@latchkey/testing/measured-service";
import { freePort } from "@latchkey/testing/server-process";
import { $ } from "bun";

const MAIN = join(import.meta.dir, "../../src/main.ts");
const DOCS = join(import.meta.dir, "../../../../docs");
print(describeMachine());
await using folder = await openFolder();
await using browser = await openBrowser();
const METRICS_PORT = String(freePort());
await using service = await startService({ METRICS_PORT, RATE_LIMIT_ENABLED: "false" });
const target = ["--url", service.url, "--metrics", `http://127.0.0.1:${METRICS_PORT}`];

async function createPicture(name: string, ...options: readonly string[]) {
  const report = join(folder.path, name);
  // A failed assertion is part of the picture.
  await $`${process.execPath} ${MAIN} ${target} ${options} --report ${report}`.nothrow();
  const { page } = await browser.visit(`file://${report}.html`, DESKTOP);
  await page.screenshot({ path: join(DOCS, `${name}.png`), fullPage: true, animations: "disabled" });
  print(`docs/${name}.png\n`);
  return Bun.file(`${report}.json`).json();
}

const { loginsPerSecond } = await createPicture("load-capacity", "--find-capacity", "--p99", "800ms");
const rate = ["--rate", (0.8 * loginsPerSecond).toFixed(), "--duration", "30s"];
await createPicture("load-run", ...rate, "--assert", "login.p99<1s,errors<0.1%");
