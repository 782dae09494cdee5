/** `/redoc` in a real browser: every operation is displayed and can be found. */
import { describe, expect } from "bun:test";
import {
  brokenWordsOf,
  DESKTOP,
  openBrowser,
  overflowOf,
  PHONE,
  browserTest as test,
} from "@latchkey/testing/chromium";
import { fetchDocument, operationsOf } from "../support/openapi/document.ts";
import { startService } from "../support/service.ts";

const TIMEOUT_MS = 60_000;

describe("the reference", () => {
  test(
    "renders every operation with its summary and responses, on a desktop and on a phone: unbroken words, no header tables",
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
          const responses = await section.getByRole("button", { name: /^[2-5]\d\d/ }).all();
          expect(responses.length).toBeGreaterThan(0);
          for (const response of responses) await response.click();
        }
        expect(await overflowOf(page)).toBe(0);
        expect(await brokenWordsOf(page)).toEqual([]);
        expect(await page.getByText("RateLimit-Reset").filter({ visible: true }).count()).toBe(1);
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

      await page.fill("input[placeholder='Search...']", "process running");
      const results = page.locator("[data-role='search:results']");
      await results.waitFor();

      expect(await results.textContent()).toContain("Check that the process is running");
      expect(faults).toEqual([]);
    },
    TIMEOUT_MS,
  );
});
