/** `/docs` and `/redoc` in a real browser: authorize, execute an operation and read the response; read and find operations. */
import { describe, expect } from "bun:test";
import type { ColorScheme, Page, Visit } from "@latchkey/testing/chromium";
import { browserTest, DESKTOP, overflowOf, PHONE } from "@latchkey/testing/chromium";
import { inFullRun } from "@latchkey/testing/full-run";
import { brokenWordsOf, contrastOf } from "../support/legibility.ts";
import { fetchDocument, operationsOf } from "../support/openapi/document.ts";
import { shareService } from "../support/service.ts";
import { sharedBrowser } from "../support/shared-resources.ts";

const test = inFullRun(browserTest);

const shared = shareService();

/** Opens a page of the service. */
const visit = async (path: string, scheme: ColorScheme = "light"): Promise<Visit> =>
  (await sharedBrowser()).visit(shared().url + path, DESKTOP, scheme);

/** Opens an operation, executes it unchanged, and returns status and body of the response. */
async function execute(page: Page, operation: string): Promise<{ status: string; body: string }> {
  await page.click(`#operations-${operation} .opblock-summary-control`);
  await page.click(`#operations-${operation} button.execute`);
  const response = page.locator(`#operations-${operation} .live-responses-table .response`);
  return {
    status: (await response.locator(".response-col_status").textContent()) ?? "",
    body: (await response.locator(".response-col_description").textContent()) ?? "",
  };
}

/** Whether a page has no token, after it has displayed its operations. */
async function isUnlocked(page: Page): Promise<boolean> {
  await page.waitForSelector("#operations-Auth-getMe");
  return (await page.locator("button.authorize.unlocked").count()) === 1;
}

/** Clicks all elements at once, because the page is then rendered once. The other tests click as a user does. */
const clickAll = (elements: ReturnType<Page["locator"]>): Promise<void> =>
  elements.evaluateAll((all: { click(): void }[]) => {
    for (const element of all) element.click();
  });

/** WCAG 2.2 requires 4.5 for small texts. The vendors' own colours are lower; in light ones, those of Swagger UI's badges. */
const MIN_CONTRAST = { light: 1.5, dark: 3 };

/**
 * Unbroken words, legible colours, no horizontal scrolling, no header tables, and nothing on the console, on a desktop and on
 * a phone.
 */
async function expectReadable({ page, faults }: Visit, scheme: ColorScheme): Promise<void> {
  for (const viewport of [DESKTOP, PHONE]) {
    await page.setViewportSize(viewport);
    expect(await overflowOf(page)).toBe(0);
    expect(await brokenWordsOf(page)).toEqual([]);
    expect(await contrastOf(page, MIN_CONTRAST[scheme])).toEqual({ scheme, faint: [] });
    expect(await page.getByText("RateLimit-Reset").filter({ visible: true }).count()).toBe(1);
  }
  expect(faults).toEqual([]);
}

test("the explorer executes operations with the examples of the document, and keeps a token until it is removed, in this tab only", async () => {
  const user = await shared().createUser();
  const { page, faults } = await visit("/docs");

  const registered = await execute(page, "Auth-register");
  expect(registered.status).toStartWith("201");
  expect(registered.body).toContain('"username": "ada"');
  const login = await execute(page, "Auth-login");
  expect(login.status).toStartWith("200");
  expect(login.body).toContain('"access_token"');

  await page.click("button.authorize");
  await page.fill(".modal-ux input", user.token);
  await page.click(".modal-ux button.authorize");
  await page.click(".modal-ux button.btn-done");
  const { status, body } = await execute(page, "Auth-getMe");
  expect(status).toStartWith("200");
  expect(body).toContain(`"email": "${user.email}"`);

  await page.goto("about:blank");
  await page.goto(`${shared().url}/docs`, { waitUntil: "networkidle" });
  expect((await execute(page, "Auth-getMe")).status).toStartWith("200");
  const other = await page.context().newPage();
  await other.goto(page.url(), { waitUntil: "networkidle" });
  expect(await isUnlocked(other)).toBe(true);
  expect(await other.evaluate("localStorage.length")).toBe(0);

  await page.click("button.authorize.locked");
  await page.getByRole("button", { name: "Remove authorization" }).click();
  await page.reload({ waitUntil: "networkidle" });
  expect(await isUnlocked(page)).toBe(true);
  expect(faults).toEqual([]);
});

describe("every operation is legible on a desktop and on a phone, also after a change of the preferred colours", () => {
  test("in the explorer", async () => {
    const operations = operationsOf(await fetchDocument(shared()));
    const visited = await visit("/docs", "dark");
    const { page } = visited;
    const ids = operations.map(({ operationId, tags: [tag] = [] }) => `#operations-${tag}-${operationId}`);
    for (const id of ids) await page.waitForSelector(`${id} .opblock-summary-control`);
    await clickAll(page.locator(".opblock-summary-control"));
    for (const id of ids) await page.waitForSelector(`${id} .responses-wrapper`);
    await expectReadable(visited, "dark");

    await page.emulateMedia({ colorScheme: "light" });
    await page.waitForSelector("html:not(.dark-mode)");
    await page.evaluate("for (const transition of document.getAnimations()) transition.finish()");
    await expectReadable(visited, "light");
  });

  test("in the reference", async () => {
    const operations = operationsOf(await fetchDocument(shared()));
    const visited = await visit("/redoc", "dark");
    const { page } = visited;
    const sectionOf = ({ operationId, tags: [tag] = [] }: (typeof operations)[number]) =>
      page.locator(`[id="tag/${tag}/operation/${operationId}"]`);
    const status = { name: /^[2-5]\d\d/ };
    const expand = async () => {
      const responses = page.getByRole("button", status);
      await clickAll(responses);
      const details = responses.locator("xpath=following-sibling::div");
      expect(await details.count()).toBe(await responses.count());
    };
    for (const operation of operations) {
      const section = sectionOf(operation);
      expect(await section.locator("h2").first().textContent()).toContain(operation.summary ?? "no summary");
      expect(await section.getByRole("button", status).count()).toBeGreaterThan(0);
    }
    await expand();
    await expectReadable(visited, "dark");

    // The page loads itself again.
    await Promise.all([page.waitForEvent("load"), page.emulateMedia({ colorScheme: "light" })]);
    for (const operation of operations) await sectionOf(operation).waitFor();
    await expand();
    await expectReadable(visited, "light");
  });
});
