/** Two tabs of the typed client in a real browser share one session: they renew it with one request per lifetime, and end together. */
import { expect, setDefaultTimeout } from "bun:test";
import { join } from "node:path";
import { openBrowser, type Page, PHONE, browserTest as test } from "@latchkey/testing/chromium";
import { ROOT } from "@latchkey/testing/repository";
import { openToken } from "../support/forge-token.ts";
import { EVERY_FEATURE, startService } from "../support/service.ts";

setDefaultTimeout(120_000);

const LIFETIME_SECONDS = 5;
const LIFETIMES = 10;

/** A page with `client`, and in `events` its tokens and the code that ended its session. */
async function servePage(serviceUrl: () => string) {
  const entry = join(ROOT, "packages/client/src/index.ts");
  const { outputs } = await Bun.build({ entrypoints: [entry], target: "browser" });
  const module = await outputs[0]?.text();
  const script = () => `import { createClient } from "/client.js";
window.events = [];
window.client = createClient({
  baseUrl: ${JSON.stringify(serviceUrl())},
  storage: localStorage,
  onTokenChange: (token) => events.push(token ?? null),
  onSessionEnd: ({ code }) => events.push(code),
});`;
  const html = () => `<!doctype html><link rel=icon href=data:,><script type=module>${script()}</script>`;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    routes: {
      "/": () => new Response(html(), { headers: { "content-type": "text/html" } }),
      "/client.js": () => new Response(module, { headers: { "content-type": "text/javascript" } }),
    },
  });
  return { origin: server.url.origin, [Symbol.asyncDispose]: () => server.stop(true) };
}

const eventsOf = (page: Page) => page.evaluate<(string | null)[]>("events");
const waitForEvents = (page: Page, count: number) =>
  page.waitForFunction(`events.length >= ${count}`, undefined, { timeout: 100_000 });

test("over ten lifetimes, two tabs send one renewal per lifetime; deactivating the user logs both out", async () => {
  let serviceUrl = "";
  await using site = await servePage(() => serviceUrl);
  await using service = await startService({
    env: { ...EVERY_FEATURE, CORS_ORIGINS: site.origin },
    configure: (config) => ({
      ...config,
      auth: { ...config.auth, tokenExpireMinutes: LIFETIME_SECONDS / 60 },
    }),
  });
  serviceUrl = service.url;
  const { email, password, id } = await service
    .register()
    .then(({ user, ...rest }) => ({ ...rest, ...user }));
  await using browser = await openBrowser();
  const { page: first } = await browser.visit(site.origin, PHONE);
  const second = await first.context().newPage();
  await second.goto(site.origin);
  const tabs = [first, second];

  await first.evaluate(`client.login(${JSON.stringify({ email, password })})`);
  for (const tab of tabs) await waitForEvents(tab, 1 + LIFETIMES);
  const renewals = () =>
    service.log.filter(({ method, route }) => method === "POST" && route === "/auth/tokens");
  expect(renewals().map(({ status }) => status)).toEqual(Array(LIFETIMES).fill(200));
  const [tokens = [], others] = await Promise.all(tabs.map(eventsOf));
  expect(others).toEqual(tokens);
  const issued = tokens.map((token) => openToken(token ?? "").claims);
  for (const { iat, exp, auth_time } of issued)
    expect([Number(exp) - Number(iat), auth_time]).toEqual([LIFETIME_SECONDS, issued[0]?.auth_time]);

  await service.database.users.setActive(id, false);
  for (const tab of tabs) await waitForEvents(tab, 2 + LIFETIMES);
  expect(renewals().at(-1)).toMatchObject({ status: 403 });
  expect(renewals()).toHaveLength(LIFETIMES + 1);
  for (const tab of tabs)
    expect(await tab.evaluate("client.token === undefined && localStorage.length")).toBe(0);
  const ends = (await Promise.all(tabs.map(eventsOf))).map((events) => events.slice(1 + LIFETIMES));
  expect(ends.toSorted((one, other) => one.length - other.length)).toEqual([[null], [null, "INACTIVE_USER"]]);
});
