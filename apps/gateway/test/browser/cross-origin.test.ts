/** The API called from a page of another origin, in a real browser: an allowed page reads responses, another reads none. */
import { expect } from "bun:test";
import { BODY_MAX_BYTES } from "@latchkey/contracts";
import type { Page } from "@latchkey/testing/chromium";
import { DESKTOP, openBrowser, wholeBrowserTest } from "@latchkey/testing/chromium";
import { inFullRun } from "@latchkey/testing/full-run";
import { startService } from "../support/service.ts";

const test = inFullRun(wholeBrowserTest);

/** Serves an empty page on a separate port. */
function servePage() {
  const headers = { "content-type": "text/html" };
  const fetch = () => new Response("<!doctype html><link rel=icon href=data:,>", { headers });
  return Bun.serve({ hostname: "127.0.0.1", port: 0, fetch });
}

interface Call {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly mode?: "cors" | "no-cors";
}

/** What a script of the page can read of a response; `unreadable` if the browser blocks it. */
const callFrom = (page: Page, url: string, call: Call) =>
  page.evaluate(
    async ([url, call]) => {
      try {
        const response = await fetch(url, call);
        const { status, headers } = response;
        const [requestId, retryAfter] = ["x-request-id", "retry-after"].map((name) => headers.get(name));
        return { status, requestId, retryAfter, body: (await response.json()) as unknown };
      } catch {
        return "unreadable";
      }
    },
    [url, call] as const,
  );

const bearer = (token: string) => ({ authorization: `Bearer ${token}`, "x-request-id": "from-a-page" });
const JSON_TYPE = { "content-type": "application/json" };

test("a page of an allowed origin reads status, body, X-Request-ID and Retry-After of every kind of response", async () => {
  using home = servePage();
  await using service = await startService({
    env: { CORS_ORIGINS: home.url.origin, RATE_LIMIT_ENABLED: "true", RATE_LIMIT_LOGIN: "2/hour" },
  });
  await using browser = await openBrowser({ isWhole: true });
  const { user, token } = await service.createUser();
  const { page } = await browser.visit(home.url.origin, DESKTOP);
  const call = (path: string, options: Call) => callFrom(page, service.url + path, options);
  const headers = { ...bearer(token), ...JSON_TYPE };
  const login = { method: "POST", headers, body: '{"email":"nobody@example.org","password":"whatever"}' };
  const common = { requestId: "from-a-page", retryAfter: null };

  expect(await call("/auth/me", { headers: bearer(token) })).toEqual({
    ...common,
    status: 200,
    body: user,
  });
  expect(service.log).toContainEqual(expect.objectContaining({ method: "OPTIONS", status: 204 }));
  expect(await call("/auth/me", { headers: bearer("a.b.c") })).toEqual({
    ...common,
    status: 401,
    body: { detail: "Invalid or expired token", code: "INVALID_TOKEN" },
  });
  expect(await call("/todos", { ...login, body: " ".repeat(BODY_MAX_BYTES + 1) })).toEqual({
    ...common,
    status: 413,
    body: { detail: "Payload Too Large", code: "PAYLOAD_TOO_LARGE" },
  });
  expect(await call("/auth/login", login)).toMatchObject({ status: 401 });
  expect(await call("/auth/login", login)).toEqual({
    status: 429,
    requestId: "from-a-page",
    retryAfter: expect.stringMatching(/^3[56]\d\d$/),
    body: { detail: "429: Too Many Requests: 2 per 1 hour", code: "TOO_MANY_REQUESTS" },
  });
});

test("a page of another origin reads nothing, and requests that need a preflight are not sent", async () => {
  using home = servePage();
  using foreign = servePage();
  await using service = await startService({ env: { CORS_ORIGINS: home.url.origin } });
  await using browser = await openBrowser({ isWhole: true });
  const { token } = await service.createUser();
  const { page } = await browser.visit(foreign.url.origin, DESKTOP);
  const before = service.log.length;
  const body = '{"title":"planted"}';

  // Without another type, a text is sent as text/plain.
  const calls: Call[] = [
    { headers: bearer(token) },
    { method: "PATCH", headers: { ...bearer(token), ...JSON_TYPE }, body: '{"username":"planted"}' },
    { method: "POST", headers: JSON_TYPE, body },
    { method: "POST", body },
    { method: "POST", body, mode: "no-cors" },
    { mode: "no-cors" },
    {},
  ];
  for (const call of calls) {
    for (const path of ["/auth/me", "/todos", "/healthz"]) {
      expect(await callFrom(page, service.url + path, call)).toBe("unreadable");
    }
  }

  const reached = service.log.slice(before).map(({ method }) => method);
  expect(new Set(reached)).toEqual(new Set(["OPTIONS", "GET", "POST"]));
  expect(await service.sql("select title from todos")).toEqual([]);
});
