/** The page of a report in Chromium, opened from a file, on a desktop and on a phone. */
import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Browser, browserTest, DESKTOP, openBrowser, overflowOf } from "@latchkey/testing/chromium";
import { openFolder } from "@latchkey/testing/folder";
import { inFullRun } from "@latchkey/testing/full-run";
import { summarizeCapacity } from "../../src/report/capacity-summary.ts";
import { renderPage } from "../../src/report/page.ts";
import { summarizeRun } from "../../src/report/run-summary.ts";
import type { Summary } from "../../src/report/summary.ts";
import { exampleCapacity, exampleRun } from "../support/example-run.ts";

const PHONE = { width: 360, height: 780 };
const HOSTILE = `</script></title><img src=x onerror="document.title='broken'">'"`;

let browser: Browser | undefined;
afterAll(() => browser?.[Symbol.asyncDispose]());

async function open(summary: Summary) {
  await using folder = await openFolder();
  const file = join(folder.path, "report.html");
  await Bun.write(file, renderPage(summary));
  browser ??= await openBrowser();
  return await browser.visit(pathToFileURL(file).href, DESKTOP);
}

const failedAssertion = { assertion: "errors < 0.1 %", passed: false, measured: 0.13, result: "0.13 %" };
const run = exampleRun({ assertions: [failedAssertion] });
const { all, operations } = run;
/** The largest figures. */
const large = Array.from({ length: 60 }, (_, index) => ({
  ...{ second: 10 * index, offered: 20_000, answered: 12_345, errors: 100 },
  ...{ p50: 123_456, p99: 599_999 },
}));
const several = { ...run, operations: { ...operations, me: all }, seconds: large };
const rates = exampleCapacity().steps.map((step) => ({ ...step, ratePerSecond: 150 * step.ratePerSecond }));

const SUMMARIES = {
  run: summarizeRun(run),
  "run of several operations": summarizeRun(several),
  "capacity search": summarizeCapacity(exampleCapacity()),
  "capacity search of a large service": summarizeCapacity(exampleCapacity({ steps: rates })),
};

/** Pairs of labels that overlap, and labels outside their plot. */
const MISPLACED_LABELS = `[...document.querySelectorAll(".plot")].flatMap((plot) => {
  const outer = plot.getBoundingClientRect();
  const labels = [...plot.querySelectorAll("text")].map((text) => ({ text: text.textContent, box: text.getBoundingClientRect() }));
  const overlap = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  return labels.flatMap(({ text, box }, index) => [
    ...labels.slice(index + 1).filter((other) => overlap(box, other.box)).map((other) => text + " and " + other.text),
    ...(box.left < outer.left || box.right > outer.right || box.bottom > outer.bottom ? [text] : []),
  ]);
})`;

const CUT_PANELS = `[...document.querySelectorAll(".panel")].filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth).length`;

const NARROWEST_LINE = `Math.min(...[...document.querySelectorAll("path")].map((path) => path.getBoundingClientRect().width))`;

inFullRun(browserTest).each(Object.entries(SUMMARIES))(
  "the page of a %s fits every width, and no labels overlap",
  async (_, summary) => {
    const { page, faults } = await open(summary);
    for (const viewport of [DESKTOP, PHONE]) {
      await page.setViewportSize(viewport);
      expect(await page.evaluate(MISPLACED_LABELS)).toEqual([]);
      expect(await page.evaluate<number>(NARROWEST_LINE)).toBeGreaterThan(20);
      expect(await overflowOf(page)).toBeLessThanOrEqual(0);
      expect(await page.evaluate<number>(CUT_PANELS)).toBe(0);
    }
    expect(faults).toEqual([]);
  },
);

inFullRun(browserTest)("failed assertions and rates are red in both colour schemes", async () => {
  const { page } = await open({ ...SUMMARIES["capacity search"], assertions: [failedAssertion] });
  const red = page.locator(".failed > :first-child, .assertion.failed, .marked.red > title");
  const rates = ["failed at 100/s: 96.1 /s", "failed at 100/s: 2.81K ms", "✗ failed", "✗ failed"];
  expect(await red.allTextContents()).toEqual(["✗ errors < 0.1 %: 0.13 %", ...rates]);
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    const colours = await page.evaluate<string[]>(`(() => {
      document.querySelector("h1").style.color = "var(--red)";
      const failed = document.querySelectorAll("h1, .failed, .failed > *, .marked.red");
      return [...new Set([...failed].map((element) => getComputedStyle(element).color))];
    })()`);
    expect(colours).toHaveLength(1);
  }
});

browserTest("data in a report is never interpreted as markup, and no script runs", async () => {
  const points = [[0, 1] as const];
  const series = [{ label: HOSTILE, colour: "blue", style: "line", points }] as const;
  const { page, faults } = await open({
    ...{ title: HOSTILE, conclusion: HOSTILE, command: HOSTILE, startedAt: run.startedAt },
    ...{ notices: [HOSTILE], warnings: [HOSTILE], header: [HOSTILE], rows: [{ cells: [HOSTILE, HOSTILE] }] },
    facts: [[HOSTILE, HOSTILE]],
    charts: [{ title: HOSTILE, note: HOSTILE, axis: "seconds", unit: "ms", series }],
    assertions: [{ ...failedAssertion, assertion: HOSTILE, result: HOSTILE }],
  });
  expect(await page.locator("img, script, [onerror]").count()).toBe(0);
  expect(faults).toEqual([]);
  const addScript = `document.head.append(Object.assign(document.createElement("script"), { text: "window.hasRun = 1" }))`;
  expect(await page.evaluate(`${addScript}; window.hasRun`)).toBeUndefined();
  expect(faults).toEqual([expect.stringContaining("Content Security Policy")]);
});

test("a run without responses has no empty plots", () => {
  const none = { ...all, statuses: { none: 3 }, latency: null };
  const second = { second: 0, offered: 3, answered: 0, errors: 3, p50: null, p99: null };
  const probe = { latency: null, failure: "the connection was closed" };
  const summary = summarizeRun({ ...run, all: none, operations: { login: none }, seconds: [second], probe });
  expect(summary.charts.map(({ title }) => title)).toEqual(["Throughput"]);
  expect(renderPage(summary)).not.toContain("NaN");
});
