/** Two tabs of the typed client in a real browser share one session: they renew it with one request per lifetime, and end together. */
import { expect } from "bun:test";
import { browserTest, PHONE } from "@latchkey/testing/chromium";
import { inFullRun } from "@latchkey/testing/full-run";
import { serveApplication } from "../support/application.ts";
import { openToken } from "../support/forge-token.ts";
import { EVERY_FEATURE, startService } from "../support/service.ts";
import { sharedBrowser } from "../support/shared-resources.ts";

const test = inFullRun(browserTest);

const LIFETIME_SECONDS = 5;
const LIFETIMES = 10;

/** A page with `client` of the service that the fragment names, and in `events` its tokens and the code that ended its session. */
const PAGE = `<script type=module>
import { createClient } from "/client.js";
window.events = [];
window.client = createClient({
  baseUrl: location.hash.slice(1),
  storage: localStorage,
  onTokenChange: (token) => events.push(token ?? null),
  onSessionEnd: ({ code }) => events.push(code),
});</script>`;

test("over ten lifetimes, two tabs send one renewal per lifetime; deactivating the user logs both out", async () => {
  await using site = await serveApplication(PAGE);
  const { origin } = site.url;
  await using service = await startService({
    env: { ...EVERY_FEATURE, CORS_ORIGINS: origin },
    configure: (config) => ({
      ...config,
      tokens: { ...config.tokens, tokenExpireMinutes: LIFETIME_SECONDS / 60 },
    }),
  });
  const { user, email, password } = await service.register();
  const browser = await sharedBrowser();
  const url = `${origin}#${service.url}`;
  const { page: first } = await browser.visit(url, PHONE);
  const second = await first.context().newPage();
  await second.goto(url);
  const tabs = [first, second];

  await first.evaluate(`client.login(${JSON.stringify({ email, password })})`);
  for (const tab of tabs)
    await tab.waitForFunction(`events.length > ${LIFETIMES}`, undefined, { timeout: 100_000 });
  await service.database.users.changeAsOperator(user.id, { isActive: false });
  const hasEnded = "events.includes(null) && client.token === undefined && localStorage.length === 0";
  for (const tab of tabs) await tab.waitForFunction(hasEnded, undefined, { timeout: 20_000 });

  const events = await Promise.all(tabs.map((tab) => tab.evaluate<(string | null)[]>("events")));
  const seen = events.map((each) => each.slice(0, each.indexOf(null)));
  expect(seen[1]?.slice(0, LIFETIMES)).toEqual(seen[0]?.slice(0, LIFETIMES));
  const tokens = [...new Set(seen.flat())].map((token) => openToken(token ?? "").claims);
  const statuses = service.log.flatMap(({ method, route, status }) =>
    method === "POST" && route === "/auth/tokens" ? [status] : [],
  );
  expect(statuses).toEqual([...Array(tokens.length - 1).fill(200), 403]);
  let previous = -Infinity;
  for (const { iat, exp, auth_time } of tokens) {
    expect([Number(exp) - Number(iat), auth_time]).toEqual([LIFETIME_SECONDS, tokens[0]?.auth_time]);
    expect(Number(iat) - previous).toBeGreaterThan(LIFETIME_SECONDS / 2);
    previous = Number(iat);
  }
  const ends = events.map((each) => each.slice(each.indexOf(null)));
  expect(ends.toSorted((one, other) => one.length - other.length)).toEqual([[null], [null, "INACTIVE_USER"]]);
});
