/** The page on which users change their account, in a real browser. */
import { expect } from "bun:test";
import {
  openBrowser,
  type Page,
  PHONE,
  browserTest as test,
  wholeBrowserTest,
} from "@latchkey/testing/chromium";
import { inFullRun } from "@latchkey/testing/full-run";
import { createVerified, enrol } from "../support/passkeys.ts";
import { EVERY_FEATURE, type Service, startService, type TestUser } from "../support/service.ts";
import { sharedBrowser } from "../support/shared-resources.ts";

const PASSWORD = "a new long passphrase";

/** Opens the page and logs in. */
async function logIn(
  service: Service,
  { email, password }: Pick<TestUser, "email" | "password">,
  browser = sharedBrowser(),
) {
  const visit = await (await browser).visit(`${service.url}/account`, PHONE);
  await visit.page.fill("#email", email);
  await visit.page.fill("#password", password);
  await visit.page.keyboard.press("Enter");
  await visit.page.getByText(`You are logged in as ${email}`).waitFor();
  return visit;
}

/** Opens a section, fills its fields by id and presses its button. */
async function submit(page: Page, section: string, fields: Readonly<Record<string, string>>): Promise<void> {
  const place = page.locator(`#${section}-section`);
  if ((await place.getAttribute("open")) === null) await place.locator("summary").click();
  for (const [id, text] of Object.entries(fields)) await page.fill(`#${id}`, text);
  await place.locator("form button:not(.reveal)").click();
}

test("a user changes everything on one page, which says what each change ends", async () => {
  await using service = await startService({ env: EVERY_FEATURE });
  const other = await service.createUser();
  const user = await createVerified(service);
  await enrol(service, user);
  const { page } = await logIn(service, user);
  const see = (text: string) => page.getByText(text).waitFor();

  await submit(page, "username", { "new-username": other.username });
  await see("Somebody else has this username.");
  await submit(page, "username", { "new-username": "countess" });
  await see("Your username is changed.");
  expect((await service.readUser(user.id)).username).toBe("countess");

  await page.locator("#password-section summary").click();
  await see("This ends all other logins, but not this one.");
  await submit(page, "password", { "password-current": "wrong", "new-password": PASSWORD });
  await see("This is not your current password.");
  await page.check("#remove_passkeys");
  await submit(page, "password", { "password-current": user.password, "new-password": PASSWORD });
  await see("Your password is changed.");
  expect((await service.call("GET", "/auth/me", { token: user.token })).status).toBe(401);
  expect(await service.database.passkeys.list(user.id)).toEqual([]);

  await submit(page, "email", { "new-email": "new@example.org", "email-current": PASSWORD });
  await see("a link is on its way");
  expect(await service.sql("select kind from outbox where kind like 'email-change%'")).toHaveLength(1);

  const token = await service.login({ email: user.email, password: PASSWORD });
  await submit(page, "logins", {});
  await see("You are logged out everywhere.");
  expect((await service.call("GET", "/auth/me", { token })).status).toBe(401);

  const last = await logIn(service, { email: user.email, password: PASSWORD });
  await submit(last.page, "deletion", {});
  await last.page.getByText("Tick this box first.").waitFor();
  await last.page.check("#confirmed");
  await submit(last.page, "deletion", {});
  await last.page.getByText("Your account is deleted.").waitFor();
  expect(await service.database.users.findById(user.id)).toBeNull();
});

// The headless shell keeps no page in memory.
inFullRun(wholeBrowserTest)(
  "a login lasts until log-out: a reload keeps it, and the back button, which restores the page from memory, then shows nothing of it",
  async () => {
    await using service = await startService();
    const user = await service.createUser();
    await using browser = await openBrowser({ isWhole: true });
    const { page } = await logIn(service, user, Promise.resolve(browser));
    await page.evaluate("onpageshow = ({ persisted }) => { globalThis.isRestored = persisted; }");
    await page.goto(`${service.url}/account/forgot-password`);
    await page.getByRole("link", { name: "Log in" }).click();
    await page.getByText(`You are logged in as ${user.email}`).waitFor();
    await page.getByRole("button", { name: "Log out", exact: true }).click();
    await page.getByText("You are logged out.").waitFor();
    // The first page, which was left with a login.
    await page.goBack({ waitUntil: "commit" });
    await page.goBack({ waitUntil: "commit" });
    await page.getByRole("heading", { name: "Log in" }).waitFor();
    expect(await page.evaluate("globalThis.isRestored")).toBe(true);
    expect(await page.content()).not.toContain(user.username);
    expect(await page.evaluate("[localStorage.length, sessionStorage.length, history.state]")).toEqual([
      0,
      0,
      null,
    ]);
  },
);

inFullRun(test)(
  "while a reload waits for the service, the page shows no login, and says that it waits",
  async () => {
    await using service = await startService();
    const user = await service.createUser();
    const { page } = await logIn(service, user);
    const { promise, resolve } = Promise.withResolvers<void>();
    await page.route("**/auth/me", async (route) => {
      await promise;
      await route.continue();
    });
    await page.reload({ waitUntil: "commit" });
    await page.getByRole("status").getByText("Please wait…").waitFor();
    expect(await page.locator("#login-form").isVisible()).toBe(false);
    resolve();
    await page.getByText(`You are logged in as ${user.email}`).waitFor();
    expect(await page.getByText("Please wait…").count()).toBe(0);
  },
);

test("a login that was ended elsewhere asks for a new one", async () => {
  await using service = await startService();
  const user = await service.createUser();
  const { page } = await logIn(service, user);
  await service.call("DELETE", "/auth/tokens", { token: user.token });
  await submit(page, "username", { "new-username": "countess" });
  await page.getByText("Your login has ended. Please log in again.").waitFor();
  expect(await page.content()).not.toContain(user.username);
});
