/** `/docs` and `/redoc` in a real browser: authorize, execute an operation and read the response; read and find operations. */
import { afterAll, describe, expect, setDefaultTimeout } from "bun:test";
import type { Browser, Page, ViewportSize, Visit } from "@latchkey/testing/chromium";
import {
  brokenWordsOf,
  DESKTOP,
  openBrowser,
  overflowOf,
  PHONE,
  browserTest as test,
} from "@latchkey/testing/chromium";
import { fetchDocument, operationsOf } from "../support/openapi/document.ts";
import { shareService } from "../support/service.ts";

setDefaultTimeout(120_000);

const shared = shareService();
let browser: Promise<Browser> | undefined;
afterAll(async () => (await browser)?.[Symbol.asyncDispose]());

/** Opens a page of the service in a new profile of the browser that all tests share. */
async function visit(path: string, viewport: ViewportSize): Promise<Visit> {
  browser ??= openBrowser();
  return (await browser).visit(shared().url + path, viewport);
}

async function authorize(page: Page, token: string): Promise<void> {
  await page.click("button.authorize");
  await page.fill(".modal-ux input", token);
  await page.click(".modal-ux button.authorize");
  await page.click(".modal-ux button.btn-done");
}

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

/** Clicks all elements at once, so that the page is rendered once; the other tests click as a user does. */
const clickAll = (elements: ReturnType<Page["locator"]>): Promise<void> =>
  elements.evaluateAll((all: { click(): void }[]) => {
    for (const element of all) element.click();
  });

/** Unbroken words, no horizontal scrolling, no header tables, and nothing on the console, on a desktop and on a phone. */
async function expectReadable({ page, faults }: Visit): Promise<void> {
  for (const viewport of [DESKTOP, PHONE]) {
    await page.setViewportSize(viewport);
    expect(await overflowOf(page)).toBe(0);
    expect(await brokenWordsOf(page)).toEqual([]);
    expect(await page.getByText("RateLimit-Reset").filter({ visible: true }).count()).toBe(1);
  }
  expect(faults).toEqual([]);
}

describe("the explorer", () => {
  test("accepts a token, shows the user of GET /auth/me and stores no token beyond the page", async () => {
    const user = await shared().createUser();
    const { page, faults } = await visit("/docs", DESKTOP);

    await authorize(page, user.token);
    const { status, body } = await execute(page, "Auth-getMe");
    expect(status).toStartWith("200");
    expect(body).toContain(`"email": "${user.email}"`);

    await page.reload({ waitUntil: "networkidle" });
    expect(await page.evaluate("JSON.stringify({ ...localStorage, ...sessionStorage })")).toBe("{}");
    expect(await page.locator("button.authorize.unlocked").count()).toBe(1);
    expect(faults).toEqual([]);
  });

  test("registers and logs in with the examples of the document", async () => {
    const { page, faults } = await visit("/docs", DESKTOP);

    const registered = await execute(page, "Auth-register");
    const login = await execute(page, "Auth-login");

    expect(registered.status).toStartWith("201");
    expect(registered.body).toContain('"username": "ada"');
    expect(login.status).toStartWith("200");
    expect(login.body).toContain('"access_token"');
    expect(faults).toEqual([]);
  });

  test("shows every operation legibly on a desktop and on a phone", async () => {
    const operations = operationsOf(await fetchDocument(shared()));
    const visited = await visit("/docs", DESKTOP);
    const ids = operations.map(({ operationId, tags: [tag] = [] }) => `#operations-${tag}-${operationId}`);
    for (const id of ids) await visited.page.waitForSelector(`${id} .opblock-summary-control`);
    await clickAll(visited.page.locator(".opblock-summary-control"));
    for (const id of ids) await visited.page.waitForSelector(`${id} .responses-wrapper`);
    await expectReadable(visited);
  });
});

test("the reference shows every operation legibly with its summary and responses, on a desktop and on a phone", async () => {
  const operations = operationsOf(await fetchDocument(shared()));
  const visited = await visit("/redoc", DESKTOP);
  for (const { operationId, summary, tags: [tag] = [] } of operations) {
    const section = visited.page.locator(`[id="tag/${tag}/operation/${operationId}"]`);
    await section.scrollIntoViewIfNeeded();
    expect(await section.locator("h2").first().textContent()).toContain(summary ?? "no summary");
    const responses = section.getByRole("button", { name: /^[2-5]\d\d/ });
    expect(await responses.count()).toBeGreaterThan(0);
    await clickAll(responses);
    const details = responses.locator("xpath=following-sibling::div");
    expect(await details.count()).toBe(await responses.count());
  }
  await expectReadable(visited);
});
