/** Takes the screenshots in the README: `docs/explorer.png` and `docs/reference.png`. */
import { join } from "node:path";
import { DESKTOP, openBrowser } from "@latchkey/testing/chromium";
import { startService } from "@latchkey/testing/measured-service";

const FOLDER = join(import.meta.dir, "../../../../docs");
const PICTURES = { "explorer.png": "/docs", "reference.png": "/redoc#tag/Auth/operation/login" };

await using service = await startService();
await using browser = await openBrowser();
for (const [name, path] of Object.entries(PICTURES)) {
  const { page } = await browser.visit(service.url + path, DESKTOP);
  const file = join(FOLDER, name);
  await page.screenshot({ path: file, animations: "disabled" });
  process.stdout.write(`${file}\n`);
}
