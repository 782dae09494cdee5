/** Details of HTTP that clients rely on: charset, Date, trailing slashes and Retry-After. */
import { describe, expect, test } from "bun:test";
import { RESPONSE_CASES } from "../support/response-cases.ts";
import { type Service, startService } from "../support/service.ts";

describe("every response has a charset and a Date, and does not name the server software", () => {
  test.each(Object.entries(RESPONSE_CASES))("%s", async (_name, { send, start, status }) => {
    await using service = await startService({
      ...start,
      env: { RATE_LIMIT_ENABLED: "true", ...start?.env },
    });
    const { headers } = await send(service);
    if (status === 204 || status === 304) expect(headers.get("content-type")).toBeNull();
    else expect(headers.get("content-type")).toMatch(/^(application\/json|text\/\w+); ?charset=utf-8$/);
    expect(Math.abs(Date.parse(headers.get("date") ?? "") - Date.now())).toBeLessThan(10_000);
    for (const name of ["server", "x-powered-by", "via"]) expect(headers.has(name)).toBe(false);
    expect(JSON.stringify(Object.fromEntries(headers))).not.toMatch(/\bbun\b|elysia/i);
  });

  test("the response to malformed HTTP does not name the server software", async () => {
    await using service = await startService();
    expect(await service.raw("nonsense\r\n\r\n")).toBe(
      "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n",
    );
  });
});

describe("a path with a trailing slash is the same route, for every method", () => {
  const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
  const PATHS = [
    ...["/auth/register", "/auth/login", "/auth/me", "/todos", "/todos/404", "/todos/no-id"],
    ...["/healthz", "/readyz", "/docs", "/redoc", "/openapi.json", "/nowhere"],
  ];
  test.each(PATHS)("%s", async (path) => {
    await using service = await startService();
    for (const method of METHODS) {
      const [bare, slashed] = [await service.call(method, path), await service.call(method, `${path}/`)];
      expect([method, slashed.status, slashed.text]).toEqual([method, bare.status, bare.text]);
      for (const name of ["allow", "content-type", "location", "etag"]) {
        expect([method, name, slashed.headers.get(name)]).toEqual([method, name, bare.headers.get(name)]);
      }
    }
  });
});

describe("Date plus Retry-After is the same time in every 429 of a window", () => {
  const nobody = { email: "nobody@example.org", password: "whatever" };
  const REQUESTS = {
    RATE_LIMIT_DEFAULT: (service: Service) => service.call("GET", "/todos"),
    RATE_LIMIT_LOGIN: (service: Service) => service.call("POST", "/auth/login", { body: nobody }),
  };

  test.each(Object.entries(REQUESTS))("%s", async (quota, send) => {
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
  });
});
