/** The registration and the second factor on the page of accounts, in a real browser, up to a login with a recovery code. */
import { expect } from "bun:test";
import { accessibilityIssuesOf, browserTest, overflowOf, PHONE } from "@latchkey/testing/chromium";
import { inFullRun } from "@latchkey/testing/full-run";
import { createApplication, mailedCode } from "../support/factors.ts";
import { signOneTimeToken } from "../support/one-time-token.ts";
import { EVERY_FEATURE, startService } from "../support/service.ts";
import { sharedBrowser } from "../support/shared-resources.ts";

const test = inFullRun(browserTest);

const USER = { email: "ada@example.com", username: "ada", password: "correct horse battery staple" };

test("who registers sets up a second factor, over reloads, and logs in with its recovery code", async () => {
  await using service = await startService({ env: { ...EVERY_FEATURE, AUTH_SECOND_FACTOR: "true" } });
  const other = await service.register();
  const { page, faults } = await (await sharedBrowser()).visit(`${service.url}/account`, PHONE);
  const see = (text: string) => page.getByText(text).waitFor();
  const expectAccessible = async () =>
    expect([await accessibilityIssuesOf(page), await overflowOf(page)]).toEqual([[], 0]);

  await page.getByRole("link", { name: "Create an account" }).click();
  await page.reload();
  await expectAccessible();
  for (const [name, text] of Object.entries(USER)) await page.fill(`#register-${name}`, text);
  await page.keyboard.press("Enter");
  await see("A link to confirm your e\u2011mail address is on its way.");
  await see(`You are logged in as ${USER.email}`);
  const user = await service.database.users.findByEmail(USER.email);
  const id = user?.id ?? 0;
  await service.database.users.update(id, { emailVerified: true });

  await page.locator("#factor-section summary").click();
  await page.fill("#factor-current", USER.password);
  await page.getByRole("button", { name: "Set up a second factor" }).click();
  await page.getByRole("img", { name: "QR code" }).waitFor();
  await page.reload();
  await page.getByRole("img", { name: "QR code" }).waitFor();
  await expectAccessible();
  const secret = (await page.locator("#factor-secret").textContent())?.replaceAll(" ", "") ?? "";
  const application = createApplication(secret);
  await page.fill("#factor-new-code", application.at(0));
  await page.fill("#factor-email-code", await mailedCode(service, { id }));
  await page.keyboard.press("Enter");
  await see("Your second factor is on.");
  const codes = page.locator("#recovery-list li");
  await codes.first().waitFor();
  await page.reload();
  await codes.first().waitFor();
  expect(await codes.count()).toBe(8);
  await expectAccessible();
  const [code = ""] = await codes.allTextContents();

  // Another user resets a password in a copy of this tab.
  const opened = page.waitForEvent("popup");
  await page.evaluate("open(location.href)");
  const copy = await opened;
  await copy.getByText(code).waitFor();
  const token = signOneTimeToken("reset", await service.readUser(other.user.id));
  await copy.goto(`${service.url}/account/reset-password#token=${token}`);
  await copy.fill("#new-password", USER.password);
  await copy.fill("#username", other.email);
  await copy.keyboard.press("Enter");
  await copy.getByText(`You are logged in as ${other.email}`).waitFor();
  expect(await copy.content()).not.toContain(code);
  await copy.close();

  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download" }).click();
  expect(await Bun.file(await (await download).path()).text()).toStartWith(`${code}\n`);
  await page.getByRole("button", { name: "I have saved them" }).click();
  await see("8 of 8 recovery codes are left.");

  await page.getByRole("button", { name: "Log out", exact: true }).click();
  await see("You are logged out.");
  expect(await page.evaluate("Object.keys(sessionStorage)")).toEqual([]);
  await page.fill("#email", USER.email);
  await page.fill("#password", USER.password);
  await page.keyboard.press("Enter");
  await see("Your account has a second factor.");
  await page.reload();
  await expectAccessible();
  await page.fill("#factor-code", code);
  await page.keyboard.press("Enter");
  await see(`You are logged in as ${USER.email}`);
  await page.locator("#factor-section summary").click();
  await see("7 of 8 recovery codes are left.");
  // The browser reports the 403 that asks for the second factor, and the 404 of the user who has none.
  expect(faults.filter((fault) => !/ (403|404) /.test(fault))).toEqual([]);
});
