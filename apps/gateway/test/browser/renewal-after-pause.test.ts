/** An application that is used again after its token has expired continues its session, in a real browser and after real pauses. */
import { afterAll, beforeAll, describe, expect } from "bun:test";
import { type Browser, openBrowser, type Page, PHONE, browserTest as test } from "@latchkey/testing/chromium";
import { inFullRun } from "@latchkey/testing/full-run";
import { serveApplication } from "../support/application.ts";
import { startService } from "../support/service.ts";

/** Longer than the lifetime of a token. */
const PAUSE_MS = 75_000;

/** A page whose clock is wrong by `minutes` of its storage, and whose `open` creates `client` and requests the user at once. */
const PAGE = `<script>
const { now } = Date;
Date.now = () => now() + 60_000 * (localStorage.getItem("minutes") ?? 0);
</script><script type=module>
import { createClient } from "/client.js";
const later = (method) => async (...values) => localStorage[method](...values);
const asynchronous = { getItem: later("getItem"), setItem: later("setItem"), removeItem: later("removeItem") };
window.events = [];
window.open = (baseUrl, isAsynchronous) => {
  const storage = isAsynchronous ? asynchronous : localStorage;
  window.client = createClient({ baseUrl, storage, onSessionEnd: ({ code }) => events.push(code) });
  return request();
};
window.request = () => client.getMe().then(({ username }) => username, ({ name }) => name);
</script>`;

interface Scenario {
  readonly name: string;
  readonly tabs?: number;
  /** The browser is stopped during the pause. Otherwise, the tabs are closed. */
  readonly isSuspended?: boolean;
  readonly isAsynchronous?: boolean;
  /** The network is missing when the tabs are reopened. */
  readonly isOffline?: boolean;
  /** Minutes by which the clock is wrong before and after the pause. */
  readonly clock?: readonly [number, number];
}

const SCENARIOS: readonly Scenario[] = [
  { name: "a reopened tab" },
  { name: "two reopened tabs", tabs: 2 },
  { name: "two tabs of a suspended browser", tabs: 2, isSuspended: true },
  { name: "a reopened tab with asynchronous storage", isAsynchronous: true },
  { name: "a clock that is an hour ahead", clock: [60, 60] },
  { name: "a clock that is an hour behind", clock: [-60, -60] },
  { name: "a clock that was set an hour ahead", clock: [0, 60] },
  { name: "a clock that was set an hour back", clock: [0, -60] },
  { name: "a network that is missing at first", isOffline: true },
];

/** Stops the processes of all pages of the browser, as a suspended machine does. */
async function suspendDuring(page: Page, work: () => Promise<void>): Promise<void> {
  const devTools = await page.context().browser()?.newBrowserCDPSession();
  const processes = (await devTools?.send("SystemInfo.getProcessInfo"))?.processInfo ?? [];
  const pages = processes.filter(({ type }) => type === "renderer");
  expect(pages).not.toBeEmpty();
  for (const { id } of pages) process.kill(id, "SIGSTOP");
  await work();
  for (const { id } of pages) process.kill(id, "SIGCONT");
}

inFullRun(describe.concurrent)("after a pause, the session continues without an error", () => {
  let site: Awaited<ReturnType<typeof serveApplication>>;
  let browser: Browser;
  beforeAll(async () => {
    site = await serveApplication(PAGE);
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
    await site.stop();
  });

  test.each(SCENARIOS)("of $name", async (scenario) => {
    const { tabs: tabCount = 1, isSuspended, isOffline, clock = [0, 0] } = scenario;
    const { origin } = site.url;
    await using service = await startService({
      env: {
        AUTH_TOKEN_EXPIRE_MINUTES: "1",
        AUTH_RENEWAL_DAYS: "30",
        AUTH_RENEWAL_IDLE_HOURS: "72",
        CORS_ORIGINS: origin,
      },
    });
    const { email, username, password } = await service.register();
    await using own = isSuspended ? await openBrowser() : undefined;
    const { page } = await (own ?? browser).visit(origin, PHONE);
    const context = page.context();
    const openTab = async () => {
      const tab = await context.newPage();
      await tab.goto(origin);
      return tab;
    };
    const call = (tab: Page, method: string) =>
      tab.evaluate<string>(`${method}(${JSON.stringify(service.url)}, ${scenario.isAsynchronous ?? false})`);
    const first = await Promise.all(Array.from({ length: tabCount }, openTab));

    await page.evaluate(`localStorage.setItem("minutes", ${clock[0]})`);
    for (const tab of first) expect(await call(tab, "open")).toBe("LatchkeyError");
    await first[0]?.evaluate(`client.login(${JSON.stringify({ email, password })})`);
    const requestCount = service.log.length;
    if (isSuspended) await suspendDuring(page, () => Bun.sleep(PAUSE_MS));
    else {
      for (const tab of first) await tab.close();
      await page.evaluate(`localStorage.setItem("minutes", ${clock[1]})`);
      await Bun.sleep(PAUSE_MS);
    }
    const second = isSuspended ? first : await Promise.all(Array.from({ length: tabCount }, openTab));
    const method = isSuspended ? "request" : "open";
    if (isOffline) {
      await context.setOffline(true);
      for (const tab of second) expect(await call(tab, method)).toBe("LatchkeyConnectionError");
      await context.setOffline(false);
    }
    const open = (tab: Page) => call(tab, isOffline ? "request" : method);
    const usernames = second.map(() => username);
    expect(await Promise.all(second.map(open))).toEqual(usernames);
    expect(await Promise.all(second.map((tab) => tab.evaluate("request()")))).toEqual(usernames);

    expect(await Promise.all(second.map((tab) => tab.evaluate("events")))).toEqual(second.map(() => []));
    const answered = service.log.slice(requestCount).filter(({ method }) => method !== "OPTIONS");
    expect(answered.filter(({ status }) => status !== 200)).toEqual([]);
    expect(answered.filter(({ route }) => route === "/auth/tokens")).toHaveLength(1);
  });
});
