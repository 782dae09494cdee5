/** Details of HTTP that clients rely on: trailing slashes and Retry-After. */
import { expect, test } from "bun:test";
import { type Service, shareService, startService } from "../support/service.ts";

const shared = shareService();
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const PATHS = [
  ...["/auth/register", "/auth/login", "/auth/me", "/todos", "/todos/404", "/todos/no-id"],
  ...["/healthz", "/readyz", "/docs", "/redoc", "/openapi.json", "/nowhere"],
];
test.each(PATHS)("a path with a trailing slash is the same route, for every method: %s", async (path) => {
  const service = shared();
  for (const method of METHODS) {
    const [bare, slashed] = [await service.call(method, path), await service.call(method, `${path}/`)];
    expect([method, slashed.status, slashed.text]).toEqual([method, bare.status, bare.text]);
    for (const name of ["allow", "content-type", "location", "etag"]) {
      expect([method, name, slashed.headers.get(name)]).toEqual([method, name, bare.headers.get(name)]);
    }
  }
});

const nobody = { email: "nobody@example.org", password: "whatever" };
const REQUESTS = {
  RATE_LIMIT_DEFAULT: (service: Service) => service.call("GET", "/todos"),
  RATE_LIMIT_LOGIN: (service: Service) => service.call("POST", "/auth/login", { body: nobody }),
};

test.concurrent.each(Object.entries(REQUESTS))(
  "Date plus Retry-After is the same time in every 429 of a window: %s",
  async (quota, send) => {
    await using service = await startService({ env: { RATE_LIMIT_ENABLED: "true", [quota]: "1/minute" } });
    await send(service);
    const dates = new Set<number>();
    const moments = new Set<number>();
    // Until the clock has advanced twice.
    while (dates.size < 3) {
      const { status, headers } = await send(service);
      expect(status).toBe(429);
      const date = Date.parse(headers.get("date") ?? "") / 1000;
      dates.add(date);
      moments.add(date + Number(headers.get("retry-after")));
      expect(headers.get("ratelimit-reset")).toBe(headers.get("retry-after"));
    }
    // Both are rounded to whole seconds, independently.
    expect(Math.max(...moments) - Math.min(...moments)).toBeLessThanOrEqual(1);
  },
);
