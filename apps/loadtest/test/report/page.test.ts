/** The report in Chromium, opened from a file, on a desktop, on a phone and in print. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import {
  type Browser,
  browserTest,
  DESKTOP,
  openBrowser,
  overflowOf,
  type Visit,
} from "@latchkey/testing/chromium";
import { renderCapacityPage } from "../../src/report/capacity-page.ts";
import { renderRunPage } from "../../src/report/run-page.ts";
import { exampleCapacity, exampleRun, latencyOf } from "../support/example-run.ts";

const NARROW_PHONE = { width: 360, height: 780 };
const HOSTILE = `</script></title><img src=x onerror="document.title='broken'">'"`;

let folder = "";
let browser: Browser | undefined;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "latchkey-report-"));
});
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

async function open(page: string, viewport = DESKTOP) {
  const file = join(folder, `${Bun.randomUUIDv7()}.html`);
  await Bun.write(file, page);
  browser ??= await openBrowser();
  return browser.visit(pathToFileURL(file).href, viewport);
}

/** The colours of the lines of each plot: those with more than 40 pixels. */
const COLOURS_DRAWN = `[...document.querySelectorAll(".plot canvas")].map((canvas) => {
  // Read from a copy: Chromium warns about canvases that are alternately drawn and read.
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
  copy.drawImage(canvas, 0, 0);
  const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
  const counts = {};
  for (let at = 0; at < data.length; at += 4) {
    const [r, g, b, a] = data.subarray(at, at + 4);
    if (a === 255) {
      const colour = "#" + [r, g, b].map((part) => part.toString(16).padStart(2, "0")).join("");
      counts[colour] = (counts[colour] ?? 0) + 1;
    }
  }
  const style = getComputedStyle(document.documentElement);
  return ["blue", "amber", "green", "violet"].filter((name) =>
    counts[style.getPropertyValue("--" + name).trim()] > 40);
})`;

/** The page's policy blocks Playwright's own waiting, so the condition is evaluated in every animation frame. */
const until = (page: Visit["page"], condition: string): Promise<unknown> =>
  page.evaluate(`new Promise((resolve) => {
    const look = () => ${condition} ? resolve() : requestAnimationFrame(look);
    look();
  })`);

const runColours = [["blue", "amber"], ["blue"], ["blue"], ["green"]];
const capacityColours = [["blue"], ["blue", "amber"], ["blue"], ["violet"]];
const hasRunColours = `JSON.stringify(${COLOURS_DRAWN}) === '${JSON.stringify(runColours)}'`;

browserTest.each([
  ["run on a desktop", () => renderRunPage(exampleRun()), DESKTOP, runColours],
  ["run on a phone", () => renderRunPage(exampleRun()), NARROW_PHONE, runColours],
  ["capacity search on a desktop", () => renderCapacityPage(exampleCapacity()), DESKTOP, capacityColours],
  ["capacity search on a phone", () => renderCapacityPage(exampleCapacity()), NARROW_PHONE, capacityColours],
] as const)(
  "the page of a %s draws its plots and fits without errors",
  async (_, render, viewport, colours) => {
    const { page, faults } = await open(await render(), viewport);
    expect(await page.evaluate(COLOURS_DRAWN)).toEqual(colours.map((each) => [...each]));
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    expect(faults).toEqual([]);
  },
);

browserTest("plots follow the size of the window and the colour scheme", async () => {
  const { page, faults } = await open(await renderRunPage(exampleRun()));
  const before = await page.evaluate(`getComputedStyle(document.documentElement).getPropertyValue("--blue")`);
  await page.setViewportSize(NARROW_PHONE);
  const fits = `[...document.querySelectorAll(".uplot")].every((plot) => plot.clientWidth <= 330)`;
  await until(page, fits);
  expect(await overflowOf(page)).toBeLessThanOrEqual(0);
  await page.emulateMedia({ colorScheme: "dark" });
  await until(page, hasRunColours);
  const after = await page.evaluate(`getComputedStyle(document.documentElement).getPropertyValue("--blue")`);
  expect(after).not.toBe(before);
  expect(faults).toEqual([]);
});

browserTest("printed pages are white in any colour scheme and contain the plots", async () => {
  const { page, faults } = await open(await renderRunPage(exampleRun()));
  await page.emulateMedia({ colorScheme: "dark" });
  await until(page, hasRunColours);
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  await page.setViewportSize({ width: 700, height: 990 });
  expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe("rgb(255, 255, 255)");
  await until(page, hasRunColours);
  expect(await overflowOf(page)).toBeLessThanOrEqual(0);
  const paper = (await page.pdf({ format: "A4", printBackground: true })).toString("latin1");
  expect(paper).toStartWith("%PDF-");
  const pages = paper.match(/\/Type \/Page\b/g)?.length ?? 0;
  expect(pages).toBeGreaterThan(0);
  expect(pages).toBeLessThanOrEqual(3);
  expect(faults).toEqual([]);
});

browserTest("the page contains the key figures, the command, warnings and every second as text", async () => {
  const bottleneck = "it used 97 % of its core.";
  const { page, faults } = await open(
    await renderRunPage(
      exampleRun({
        outcome: "interrupted",
        countedSeconds: 41,
        driver: { cpuShare: 0.97, lateness: null, bottleneck },
        overloaded: true,
        assertions: [
          { assertion: "errors < 0.1 %", passed: false, measured: 0.13, result: "0.13 %" },
          { assertion: "login.p90 < 1 s", passed: true, measured: 0.4, result: "0.4 s" },
        ],
      }),
    ),
  );
  const text = (await page.locator("main").allInnerTexts()).join();
  for (const part of ["Logins per second\n90.5/s\nof 90/s offered", "Errors\n7\n0.13 % of 5,444"])
    expect(text).toContain(part);
  expect(text).toContain("Interrupted after 41 s of 60 s");
  expect(text).toContain(`The load generator was the bottleneck, not the service: ${bottleneck}`);
  expect(text.replace(/\s+/g, " ")).toContain(
    "bun run loadtest --url http://127.0.0.1:3000 --scenario login",
  );
  expect(text).toContain("Overloaded: 91 of 90/s answered");
  expect(text.replace(/\s+/g, " ")).toContain(
    "errors < 0.1 % ✗ failed 0.13 % login.p90 < 1 s ✓ passed 0.4 s",
  );
  expect(text).toContain("AMD EPYC 9354P, 2 cores");
  expect(text).toContain("14 March 2026 at 09:26 UTC");
  expect(await page.locator("details tbody tr").count()).toBe(60);
  expect(faults).toEqual([]);
});

browserTest("the page of a run without responses has no empty plots", async () => {
  const none = {
    sent: 3,
    statuses: { none: 3 },
    connectionErrors: { reset: 3 },
    errors: 3,
    perSecond: 0,
    latency: null,
  };
  const second = { second: 0, offered: 3, answered: 0, errors: 3, p50: null, p99: null, probeP99: null };
  const run = exampleRun({
    all: none,
    operations: { login: none },
    seconds: [second],
    probe: { latency: null, failure: "the connection was closed" },
    server: null,
  });
  const { page, faults } = await open(await renderRunPage(run));
  expect(await page.locator("figcaption").allInnerTexts()).toEqual([expect.stringMatching(/^Throughput/)]);
  expect(faults).toEqual([]);
});

browserTest("fast and slow operations have separate points in one percentile plot", async () => {
  const { all, operations } = exampleRun();
  const fast = latencyOf(Array.from({ length: 300 }, (_, index) => 0.5 + index / 300));
  const me = { ...all, latency: fast };
  const { page, faults } = await open(await renderRunPage(exampleRun({ operations: { ...operations, me } })));
  const plots = await page.evaluate<string[][]>(COLOURS_DRAWN);
  expect(plots[1]).toEqual(["blue", "amber"]);
  expect(faults).toEqual([]);
});

browserTest("data in a report is never interpreted as markup or script", async () => {
  const { asked, all, server } = exampleRun();
  const run = exampleRun({
    asked: { ...asked, url: HOSTILE },
    machine: HOSTILE,
    all: { ...all, statuses: { [HOSTILE]: 3 } },
    operations: { [HOSTILE]: all },
    probe: { latency: null, failure: HOSTILE },
    command: HOSTILE,
    assertions: [{ assertion: HOSTILE, passed: false, measured: null, result: HOSTILE }],
    driver: { cpuShare: 1, lateness: null, bottleneck: HOSTILE },
    server: server && { ...server, kernel: HOSTILE },
  });
  const report = exampleCapacity({ url: HOSTILE, machine: HOSTILE, kernel: HOSTILE, sentence: HOSTILE });
  for (const text of [await renderRunPage(run), await renderCapacityPage(report)]) {
    const { page, faults } = await open(text, NARROW_PHONE);
    expect(await page.title()).toContain(HOSTILE);
    expect(await page.locator("img, [onerror]").count()).toBe(0);
    expect(await page.locator("script").count()).toBe(2);
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    expect(faults).toEqual([]);
  }
});

browserTest("the Content Security Policy blocks other scripts", async () => {
  const { page, faults } = await open(await renderRunPage(exampleRun()));
  const ran = await page.evaluate(`{
    const script = document.createElement("script");
    script.textContent = "window.hasRun = true";
    document.body.append(script);
    window.hasRun === true;
  }`);
  expect(ran).toBe(false);
  expect(faults).toEqual([expect.stringContaining("Content Security Policy")]);
});

test("the file contains the licence of the plotting library and no external references", async () => {
  const text = await renderRunPage(exampleRun());
  expect(text).toContain("Permission is hereby granted");
  expect(text).not.toMatch(/(src|href)="(?!data:)/);
  expect(text.match(/<\/script>/g)).toHaveLength(2);
});
