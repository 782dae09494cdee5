/** `/redoc` in a real browser: every operation is displayed and can be found. */
import { describe, expect } from "bun:test";
import { DESKTOP, openBrowser, overflowOf, PHONE, browserTest as test } from "@latchkey/testing/chromium";
import { fetchDocument, operationsOf } from "../support/openapi-document.ts";
import { startService } from "../support/service.ts";

const TIMEOUT_MS = 60_000;

describe("the reference", () => {
  test(
    "renders every operation with its summary, on a desktop and on a phone",
    async () => {
      await using service = await startService();
      await using browser = await openBrowser();
      const operations = operationsOf(await fetchDocument(service));

      for (const viewport of [DESKTOP, PHONE]) {
        const { page, faults } = await browser.visit(`${service.url}/redoc`, viewport);
        for (const { operationId, summary, tags: [tag] = [] } of operations) {
          const section = page.locator(`[id="tag/${tag}/operation/${operationId}"]`);
          await section.scrollIntoViewIfNeeded();
          expect(await section.locator("h2").first().textContent()).toContain(summary ?? "no summary");
        }
        expect(await overflowOf(page)).toBe(0);
        expect(faults).toEqual([]);
      }
    },
    TIMEOUT_MS,
  );

  test(
    "finds operations by words of their summary",
    async () => {
      await using service = await startService();
      await using browser = await openBrowser();
      const { page, faults } = await browser.visit(`${service.url}/redoc`, DESKTOP);

      await page.fill("input[placeholder='Search...']", "liveness alive");
      const results = page.locator("[data-role='search:results']");
      await results.waitFor();

      expect(await results.textContent()).toContain("Is the process alive?");
      expect(faults).toEqual([]);
    },
    TIMEOUT_MS,
  );
});
