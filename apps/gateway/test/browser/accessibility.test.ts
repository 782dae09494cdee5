/** Every page of accounts, in both colour schemes, on a phone and on a wide window: nothing overflows, and axe-core finds nothing. */
import { expect } from "bun:test";
import {
  accessibilityIssuesOf,
  browserTest,
  DESKTOP,
  overflowOf,
  type Page,
  PHONE,
} from "@latchkey/testing/chromium";
import { inFullRun } from "@latchkey/testing/full-run";
import { createVerified } from "../support/passkeys.ts";
import { EVERY_FEATURE, startService } from "../support/service.ts";
import { sharedBrowser } from "../support/shared-resources.ts";

const test = inFullRun(browserTest);

const LINKED_PAGES = ["reset-password", "verify-email", "approve-email", "change-email"];

/** The width changes the layout, and the scheme only the colours, so two of the four combinations cover all. */
const WINDOWS = [
  [PHONE, "light"],
  [DESKTOP, "dark"],
] as const;

async function expectAccessible(page: Page): Promise<void> {
  for (const [viewport, colorScheme] of WINDOWS) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    const issues = await accessibilityIssuesOf(page);
    const found = [page.url(), colorScheme, issues, await overflowOf(page)];
    expect(found).toEqual([page.url(), colorScheme, [], 0]);
  }
}

test("the pages are accessible and fit, as opened, with errors, with a dead link and with a login", async () => {
  const product = { PRODUCT_NAME: "Acme Notes", PRODUCT_URL: "https://notes.example.com" };
  const env = { ...EVERY_FEATURE, ...product, AUTH_EMAIL_LOGIN: "true" };
  await using service = await startService({ env });
  const { email, password } = await createVerified(service);
  const { page } = await (await sharedBrowser()).visit(`${service.url}/account/forgot-password`, PHONE);
  await expectAccessible(page);
  for (const name of LINKED_PAGES) {
    await page.goto(`${service.url}/account/${name}#token=x`);
    await expectAccessible(page);
  }
  await page.locator(".primary").click();
  await page.getByText("This link is not valid any more").waitFor();
  await expectAccessible(page);

  await page.goto(`${service.url}/account`);
  await page.getByRole("button", { name: "Log in", exact: true }).click();
  await page.locator("#code-section summary").click();
  await expectAccessible(page);
  // The narrowest window, with the text twice as large.
  await page.setViewportSize({ width: 320, height: 640 });
  await page.evaluate(`document.documentElement.style.fontSize = "200%"`);
  expect(await overflowOf(page)).toBe(0);
  await page.reload();
  await page.fill("#email", email);
  await page.fill("#password", password);
  await page.keyboard.press("Enter");
  await page.getByText("You are logged in as").waitFor();
  // Opened by a script, all sections are open together.
  await page.evaluate(
    `for (const section of document.querySelectorAll("details")) { section.name = ""; section.open = true; }`,
  );
  await expectAccessible(page);
});
