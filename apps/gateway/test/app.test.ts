/** Every kind of response passes through all middleware. Exceptions are stated in `response-cases.ts`. */
import { expect, test } from "bun:test";
import { ORIGIN, REQUEST_ID, RESPONSE_CASES, type ResponseCase } from "./support/response-cases.ts";
import { startService } from "./support/service.ts";

type ExpectHeaders = (headers: Headers, testCase: ResponseCase) => void;

const MIDDLEWARE: Readonly<Record<string, ExpectHeaders>> = {
  CORS(headers) {
    expect(headers.get("access-control-allow-origin")).toBe(ORIGIN);
    expect(headers.get("vary")?.split(/, */)).toContain("Origin");
    const exposed = headers.get("access-control-expose-headers")?.split(/, */);
    expect(exposed).toEqual([
      "X-Request-ID",
      "Retry-After",
      ...["Limit", "Remaining", "Reset"].map((name) => `RateLimit-${name}`),
    ]);
    expect(headers.get("access-control-allow-credentials")).toBeNull();
  },
  "security headers"(headers, { hasOwnPolicy, isCacheable }) {
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("x-frame-options")).toBe("DENY");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("permissions-policy")).toBe("camera=(), geolocation=(), microphone=(), payment=()");
    expect(headers.get("cross-origin-opener-policy")).toBe("same-origin");
    expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
    const policy = headers.get("content-security-policy");
    if (hasOwnPolicy) expect(policy).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
    else expect(policy).toBe("default-src 'none'; frame-ancestors 'none'");
    if (!isCacheable) expect(headers.get("cache-control")).toBe("no-store");
  },
  "the HTTP server"(headers, { status }) {
    if (status === 204 || status === 304) expect(headers.get("content-type")).toBeNull();
    else expect(headers.get("content-type")).toMatch(/^(application\/json|text\/\w+); ?charset=utf-8$/);
    expect(Math.abs(Date.parse(headers.get("date") ?? "") - Date.now())).toBeLessThan(10_000);
    for (const name of ["server", "x-powered-by", "via"]) expect(headers.has(name)).toBe(false);
    expect(JSON.stringify(Object.fromEntries(headers))).not.toMatch(/\bbun\b|elysia/i);
  },
  "request id"(headers) {
    expect(headers.get("x-request-id")).toBe(REQUEST_ID);
  },
  "rate limit"(headers, { status, skipRateLimit }) {
    const names = ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"];
    for (const name of names) {
      if (skipRateLimit) expect(headers.get(name)).toBeNull();
      else expect(headers.get(name)).toMatch(/^\d+$/);
    }
    if (status === 429) {
      expect(headers.get("ratelimit-remaining")).toBe("0");
      expect(headers.get("retry-after")).toBe(headers.get("ratelimit-reset"));
    }
  },
};

const limits = { RATE_LIMIT_ENABLED: "true", CORS_ORIGINS: ORIGIN };

for (const [name, testCase] of Object.entries(RESPONSE_CASES)) {
  test(`the response "${name}" has the headers of all middleware`, async () => {
    await using service = await startService({
      ...testCase.start,
      env: { ...limits, ...testCase.start?.env },
    });
    const response = await testCase.send(service);
    expect(response.status).toBe(testCase.status);
    for (const expectHeaders of Object.values(MIDDLEWARE)) expectHeaders(response.headers, testCase);
  });
}
