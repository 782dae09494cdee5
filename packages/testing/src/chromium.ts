/** Headless Chromium for tests of pages. It resolves no host names: a page can load resources only from the service. */
import { test } from "bun:test";
import axe from "axe-core";
import { chromium, type Page, type ViewportSize } from "playwright-core";

export type { Page, ViewportSize };

const CHROMIUM = Bun.which("chromium") ?? Bun.which("chromium-browser") ?? Bun.which("google-chrome");
/** Without a window system, which needs half the time of the processor. */
const HEADLESS_SHELL = Bun.which("chromium-headless-shell");

/** A `test` that is skipped if no Chromium is installed; in CI it fails instead. */
export const browserTest = test.skipIf(CHROMIUM === null && HEADLESS_SHELL === null && !process.env.CI);
/** A `test` that is skipped if the Chromium of users is not installed; in CI it fails instead. */
export const wholeBrowserTest = test.skipIf(CHROMIUM === null && !process.env.CI);
if (CHROMIUM === null)
  process.stderr.write(
    `${HEADLESS_SHELL === null ? "Tests" : "Some tests"} of pages are skipped: \`chromium\` is not on the PATH.\n`,
  );

export const DESKTOP: ViewportSize = { width: 1400, height: 900 };
export type ColorScheme = "light" | "dark";

export const PHONE: ViewportSize = { width: 390, height: 844 };

export type Browser = Awaited<ReturnType<typeof openBrowser>>;
export type Visit = Awaited<ReturnType<Browser["visit"]>>;

/**
 * @param isWhole whether it is the Chromium of users instead of the headless shell, if both are installed
 * @throws {Error} if Chromium is not installed
 */
export async function openBrowser({ isWhole = false } = {}) {
  const executablePath = isWhole ? CHROMIUM : (HEADLESS_SHELL ?? CHROMIUM);
  if (executablePath === null) throw new Error("`chromium` is not on the PATH");
  const browser = await chromium.launch({
    executablePath,
    args: ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"],
    // The browsers of users have this cache.
    ignoreDefaultArgs: ["--disable-back-forward-cache"],
  });
  return {
    /**
     * Opens a page in a new profile and waits until all its resources are loaded.
     * @param deviceScaleFactor pixels of the screen per CSS pixel
     */
    async visit(
      url: string,
      viewport: ViewportSize,
      colorScheme: ColorScheme = "light",
      deviceScaleFactor = 1,
    ) {
      const context = await browser.newContext({ viewport, colorScheme, deviceScaleFactor });
      // The test runner ends a test that hangs.
      context.setDefaultTimeout(0);
      const page = await context.newPage();
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
    /** Closes all pages: otherwise they keep running beside later tests. */
    async closePages(): Promise<void> {
      await Promise.all(browser.contexts().map((context) => context.close()));
    },
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

/** The width by which the content exceeds the window, in CSS pixels. */
export const overflowOf = (page: Page): Promise<number> =>
  page.evaluate("document.documentElement.scrollWidth - window.innerWidth");

/** What axe-core finds on the page, as rule and elements. */
export async function accessibilityIssuesOf(page: Page): Promise<string[]> {
  if (!(await page.evaluate("Boolean(globalThis.axe)"))) await page.evaluate(axe.source);
  const { violations } = await page.evaluate<axe.AxeResults>("axe.run()");
  return violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(" ")).join(", ")}`,
  );
}

/** Adds a virtual authenticator to the page's browser. By default, it is built into the device and verifies its user. */
export async function addAuthenticator(page: Page, options: object = {}): Promise<void> {
  const devTools = await page.context().newCDPSession(page);
  await devTools.send("WebAuthn.enable");
  await devTools.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      automaticPresenceSimulation: true,
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      ...options,
    },
  });
}
