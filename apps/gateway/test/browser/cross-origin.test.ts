/** The API called from a page of another origin, in a real browser: an allowed page reads responses, another reads none. */
import { expect, setDefaultTimeout } from "bun:test";
import { BODY_MAX_BYTES } from "@latchkey/contracts";
import type { Page } from "@latchkey/testing/chromium";
import { browserTest, DESKTOP } from "@latchkey/testing/chromium";
import { startService } from "../support/service.ts";
import { sharedBrowser } from "../support/shared-resources.ts";

setDefaultTimeout(60_000);

/** An empty page on a separate port. */
function servePage(): Disposable & { readonly origin: string } {
  const headers = { "content-type": "text/html" };
  const fetch = () => new Response("<!doctype html><link rel=icon href=data:,>", { headers });
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch });
  return { origin: server.url.origin, [Symbol.dispose]: () => void server.stop(true) };
}

interface Call {
  readonly url: string;
  readonly method?: string;
  readonly token?: string;
  /** Sent as JSON; a number stands for this many spaces. */
  readonly body?: object | number;
  readonly type?: string;
  readonly mode?: "cors" | "no-cors";
}

/** What a script of the page can read of a response; `unreadable` if the browser blocks it. */
const callFrom = (page: Page, call: Call) =>
  page.evaluate(async ({ url, method = "GET", token, body, type = "application/json", mode = "cors" }) => {
    try {
      const response = await fetch(url, {
        method,
        mode,
        headers: {
          ...(token !== undefined && { authorization: `Bearer ${token}`, "x-request-id": "from-a-page" }),
          ...(body !== undefined && { "content-type": type }),
        },
        ...(body !== undefined && {
          body: typeof body === "number" ? " ".repeat(body) : JSON.stringify(body),
        }),
      });
      const { status, headers } = response;
      const [requestId, retryAfter] = ["x-request-id", "retry-after"].map((name) => headers.get(name));
      return { status, requestId, retryAfter, body: (await response.json()) as unknown };
    } catch {
      return "unreadable";
    }
  }, call);

const WRONG = { email: "nobody@example.org", password: "whatever" };

browserTest(
  "a page of an allowed origin reads status, body, X-Request-ID and Retry-After of every kind of response",
  async () => {
    using home = servePage();
    await using service = await startService({
      env: { CORS_ORIGINS: home.origin, RATE_LIMIT_ENABLED: "true", RATE_LIMIT_LOGIN: "2/hour" },
    });
    const browser = await sharedBrowser();
    const { user, token } = await service.createUser();
    const { page } = await browser.visit(home.origin, DESKTOP);
    const call = (path: string, options: Omit<Call, "url"> = {}) =>
      callFrom(page, { url: service.url + path, ...options });
    const common = { requestId: "from-a-page", retryAfter: null };

    expect(await call("/auth/me", { token })).toEqual({ ...common, status: 200, body: user });
    expect(service.log).toContainEqual(expect.objectContaining({ method: "OPTIONS", status: 204 }));
    expect(await call("/auth/me", { token: "a.b.c" })).toEqual({
      ...common,
      status: 401,
      body: { detail: "Invalid or expired token", code: "INVALID_TOKEN" },
    });
    expect(await call("/todos", { method: "POST", token, body: BODY_MAX_BYTES + 1 })).toEqual({
      ...common,
      status: 413,
      body: { detail: "Payload Too Large", code: "PAYLOAD_TOO_LARGE" },
    });
    expect(await call("/auth/login", { method: "POST", token, body: WRONG })).toMatchObject({ status: 401 });
    expect(await call("/auth/login", { method: "POST", token, body: WRONG })).toEqual({
      status: 429,
      requestId: "from-a-page",
      retryAfter: expect.stringMatching(/^3[56]\d\d$/),
      body: { detail: "429: Too Many Requests: 2 per 1 hour", code: "TOO_MANY_REQUESTS" },
    });
  },
);

browserTest(
  "a page of another origin reads nothing, and requests that need a preflight are not sent",
  async () => {
    using home = servePage();
    using foreign = servePage();
    await using service = await startService({ env: { CORS_ORIGINS: home.origin } });
    const browser = await sharedBrowser();
    const { token } = await service.createUser();
    const { page } = await browser.visit(foreign.origin, DESKTOP);
    const before = service.log.length;
    const todo = { title: "planted" };

    const calls: Omit<Call, "url">[] = [
      { token },
      { method: "PATCH", token, body: { username: "planted" } },
      { method: "POST", body: todo },
      { method: "POST", body: todo, type: "text/plain" },
      { method: "POST", body: todo, type: "text/plain", mode: "no-cors" },
      { mode: "no-cors" },
      {},
    ];
    for (const call of calls) {
      for (const path of ["/auth/me", "/todos", "/healthz"]) {
        expect(await callFrom(page, { url: service.url + path, ...call })).toBe("unreadable");
      }
    }

    const reached = service.log.slice(before).map(({ method }) => method);
    expect(new Set(reached)).toEqual(new Set(["OPTIONS", "GET", "POST"]));
    expect(await service.sql("select title from todos")).toEqual([]);
  },
);
