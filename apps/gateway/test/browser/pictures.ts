/** Takes the screenshots of the documents: `docs/explorer.png`, `docs/reference.png` and `docs/account.png`. */
import { join } from "node:path";
import { openDatabase } from "@latchkey/database";
import { addAuthenticator, DESKTOP, openBrowser, type Page, PHONE } from "@latchkey/testing/chromium";
import { startService } from "@latchkey/testing/measured-service";
import { freePort } from "@latchkey/testing/server-process";
import { post } from "@latchkey/testing/service-process";

const FOLDER = join(import.meta.dir, "../../../../docs");
/** Each page, and an element that it renders from the document. */
const PICTURES = [
  { name: "explorer.png", path: "/docs", element: "#operations-Auth-login" },
  {
    name: "reference.png",
    path: "/redoc#tag/Auth/operation/login",
    element: '[id="tag/Auth/operation/login"] h3:has-text("Responses")',
  },
];

const USER = { email: "ada@example.com", username: "ada", password: "correct horse battery staple" };

const port = freePort();
const origin = `http://localhost:${port}`;
await using service = await startService({
  PORT: String(port),
  PASSKEY_ORIGINS: origin,
  PRODUCT_NAME: "Example",
});
await using browser = await openBrowser();

async function save(page: Page, name: string): Promise<void> {
  const file = join(FOLDER, name);
  await page.screenshot({ path: file, animations: "disabled" });
  process.stdout.write(`${file}\n`);
}

for (const { name, path, element } of PICTURES) {
  const { page } = await browser.visit(service.url + path, DESKTOP);
  await page.locator(element).waitFor();
  await save(page, name);
}

await post(`${service.url}/auth/register`, USER);
await using database = await openDatabase({ url: service.databaseUrl });
await database.users.update(1, { emailVerified: true });
const { page } = await browser.visit(`${origin}/account`, PHONE);
await addAuthenticator(page);
await page.fill("#email", USER.email);
await page.fill("#password", USER.password);
await page.keyboard.press("Enter");
await page.locator("#passkeys-section summary").click();
await page.fill("#passkey-name", "Phone");
await page.fill("#passkey-current", USER.password);
await page.getByText("Create a passkey").click();
await page.getByText("is created").waitFor();
await page.locator("#passkeys-section summary").click();
await save(page, "account.png");
