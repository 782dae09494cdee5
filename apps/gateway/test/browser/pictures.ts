/**
 * Takes the screenshots of the documents: `docs/explorer.png`, `docs/reference.png`, `docs/account.png`, and the pages of accounts for
 * the README, `docs/pages-light.webp` and `docs/pages-dark.webp`.
 */
import { join } from "node:path";
import { openDatabase } from "@latchkey/database";
import {
  addAuthenticator,
  type ColorScheme,
  DESKTOP,
  openBrowser,
  type Page,
  PHONE,
} from "@latchkey/testing/chromium";
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
/** Nothing is requested from a provider before a login. */
const provider = (name: string, issuer: string) => ({
  ...{ name, issuer, client_id: "latchkey", client_secret: "secret" },
  ...(name === "github" && { type: "github" }),
});
await using service = await startService({
  PORT: String(port),
  PASSKEY_ORIGINS: origin,
  PRODUCT_NAME: "Example",
  PRODUCT_COLOR: "#4f46e5",
  AUTH_EMAIL_CHANGE: "true",
  AUTH_SECOND_FACTOR: "true",
  OIDC_PROVIDERS: JSON.stringify([
    provider("google", "https://accounts.google.com"),
    provider("microsoft", "https://login.microsoftonline.com/common/v2.0"),
    provider("github", "https://github.com"),
  ]),
  OIDC_REDIRECT_URIS: `${origin}/account`,
});
await using browser = await openBrowser();

async function save(name: string, content: Uint8Array): Promise<void> {
  const file = join(FOLDER, name);
  await Bun.write(file, content);
  process.stdout.write(`${file}\n`);
}

const photograph = (page: Page): Promise<Buffer> => page.screenshot({ animations: "disabled" });

for (const { name, path, element } of PICTURES) {
  const { page } = await browser.visit(service.url + path, DESKTOP);
  await page.locator(element).waitFor();
  await save(name, await photograph(page));
}

await post(`${service.url}/auth/register`, USER);
await using database = await openDatabase({ url: service.databaseUrl });
await database.users.update(1, { emailVerified: true });

async function logIn(page: Page): Promise<void> {
  await page.fill("#email", USER.email);
  await page.fill("#password", USER.password);
  await page.keyboard.press("Enter");
  await page.getByText("You are logged in as").waitFor();
}

/** Draws pictures beside each other, as WebP. The text runs in the browser. */
const MONTAGE = `async (pictures) => {
  const images = await Promise.all(pictures.map(async (base64) => {
    const image = new Image();
    image.src = "data:image/png;base64," + base64;
    await image.decode();
    return image;
  }));
  const [{ width, height }] = images;
  const gap = width / 16;
  const canvas = document.createElement("canvas");
  canvas.width = images.length * (width + gap) - gap;
  canvas.height = height;
  const context = canvas.getContext("2d");
  for (const [index, image] of images.entries()) {
    const left = index * (width + gap);
    context.save();
    context.beginPath();
    context.roundRect(left + 1, 1, width - 2, height - 2, 20);
    context.clip();
    context.drawImage(image, left, 0);
    context.restore();
    context.strokeStyle = "#808890";
    context.lineWidth = 2;
    context.stroke();
  }
  return canvas.toDataURL("image/webp", 0.6).split(",")[1];
}`;

async function photographPages(scheme: ColorScheme): Promise<void> {
  const { page } = await browser.visit(`${origin}/account`, PHONE, scheme, 1.5);
  const pictures = [await photograph(page)];
  await page.getByRole("link", { name: "Create an account" }).click();
  // Otherwise the pointer is above a button.
  await page.mouse.move(0, 0);
  pictures.push(await photograph(page));
  await page.getByRole("link", { name: "Log in instead" }).click();
  await logIn(page);
  pictures.push(await photograph(page));
  const { page: empty } = await browser.visit("about:blank", PHONE);
  const encoded = JSON.stringify(pictures.map((picture) => picture.toString("base64")));
  const montage = await empty.evaluate<string>(`(${MONTAGE})(${encoded})`);
  await save(`pages-${scheme}.webp`, Buffer.from(montage, "base64"));
}

for (const scheme of ["light", "dark"] as const) await photographPages(scheme);

const { page } = await browser.visit(`${origin}/account`, PHONE);
await addAuthenticator(page);
await logIn(page);
await page.locator("#passkeys-section summary").click();
await page.fill("#passkey-name", "Phone");
await page.fill("#passkey-current", USER.password);
await page.getByText("Create a passkey").click();
await page.getByText("is created").waitFor();
await page.locator("#passkeys-section summary").click();
await save("account.png", await photograph(page));
