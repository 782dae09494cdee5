/** Headless Chromium for tests of pages. It resolves no host names, so that a page can load resources only from the service. */
import { test } from "bun:test";
import { chromium, type Page, type ViewportSize } from "playwright-core";

export type { Page, ViewportSize };

const EXECUTABLE = Bun.which("chromium") ?? Bun.which("chromium-browser") ?? Bun.which("google-chrome");

/** A `test` that is skipped if Chromium is not installed; in CI it fails instead. */
export const browserTest = test.skipIf(EXECUTABLE === null && !process.env.CI);
if (EXECUTABLE === null) process.stderr.write("Tests of pages are skipped: `chromium` is not on the PATH.\n");

export const DESKTOP: ViewportSize = { width: 1400, height: 900 };
export type ColorScheme = "light" | "dark";

export const PHONE: ViewportSize = { width: 390, height: 844 };

export type Browser = Awaited<ReturnType<typeof openBrowser>>;
export type Visit = Awaited<ReturnType<Browser["visit"]>>;

/** @throws {Error} if Chromium is not installed */
export async function openBrowser() {
  if (EXECUTABLE === null) throw new Error("`chromium` is not on the PATH");
  const browser = await chromium.launch({
    executablePath: EXECUTABLE,
    args: ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"],
  });
  return {
    /** Opens a page in a new profile and waits until all its resources are loaded. */
    async visit(url: string, viewport: ViewportSize, colorScheme: ColorScheme = "light") {
      const page = await (await browser.newContext({ viewport, colorScheme })).newPage();
      /** Console warnings and errors, failed requests and requests to other hosts. */
      const faults: string[] = [];
      const { origin } = new URL(url);
      page.on("console", (message) => {
        if (["error", "warning"].includes(message.type()))
          faults.push(`${message.type()}: ${message.text()}`);
      });
      page.on("pageerror", (error) => faults.push(`thrown: ${error.message}`));
      page.on("requestfailed", (request) => faults.push(`failed: ${request.url()}`));
      page.on("request", (request) => {
        const isOwn = new URL(request.url()).origin === origin;
        if (!isOwn && !request.url().startsWith("data:")) faults.push(`outside: ${request.url()}`);
      });
      await page.goto(url, { waitUntil: "networkidle" });
      return { page, faults };
    },
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

/** The width by which the content exceeds the window, in CSS pixels. */
export const overflowOf = (page: Page): Promise<number> =>
  page.evaluate("document.documentElement.scrollWidth - window.innerWidth");

/** The words that are displayed on more than one line. Longer ones, such as tokens, do not always fit on a phone. */
export const brokenWordsOf = (page: Page): Promise<string[]> =>
  page.evaluate(`(() => {
    const broken = new Set();
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      for (const { 0: word, index } of texts.currentNode.textContent.matchAll(/[\\p{L}\\p{N}_]{2,30}/gu)) {
        const range = document.createRange();
        range.setStart(texts.currentNode, index);
        range.setEnd(texts.currentNode, index + word.length);
        const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
        if (lines.size > 1) broken.add(word);
      }
    }
    return [...broken];
  })()`);

/** Whether the page has a dark background, and its visible texts with less contrast than the minimum (WCAG 2.2, 1.4.3). */
export const contrastOf = (page: Page, minimum: number): Promise<{ scheme: string; faint: string[] }> =>
  page.evaluate(`(() => {
    const pixel = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    const luminanceOf = (layers) => {
      for (const layer of layers) {
        pixel.fillStyle = layer;
        pixel.fillRect(0, 0, 1, 1);
      }
      const [red, green, blue] = [...pixel.getImageData(0, 0, 1, 1).data].map((value) =>
        value <= 10 ? value / 3294.6 : ((value / 255 + 0.055) / 1.055) ** 2.4);
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const probe = document.createElement("i");
    probe.style.backgroundColor = "Canvas";
    document.body.append(probe);
    const canvas = getComputedStyle(probe).backgroundColor;
    probe.remove();
    const backgroundsOf = (element) => element === null
      ? [canvas]
      : [...backgroundsOf(element.parentElement), getComputedStyle(element).backgroundColor];
    const faint = new Set();
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const text = texts.currentNode.textContent.trim();
      const element = texts.currentNode.parentElement;
      if (text === "" || !element.checkVisibility({ visibilityProperty: true })) continue;
      const layers = backgroundsOf(element);
      const both = [luminanceOf(layers), luminanceOf([...layers, getComputedStyle(element).color])];
      const ratio = (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05);
      if (ratio < ${minimum}) faint.add(ratio.toFixed(1) + " " + text.slice(0, 40));
    }
    const scheme = luminanceOf(backgroundsOf(document.body)) < 0.2 ? "dark" : "light";
    return { scheme, faint: [...faint] };
  })()`);
