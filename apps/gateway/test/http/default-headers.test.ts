/** The default headers are shared by all responses, but the headers of one response are not. */
import { expect, test } from "bun:test";
import { startService } from "../support/service.ts";

const API_POLICY = "default-src 'none'; frame-ancestors 'none'";

test("headers of one response never appear in another one", async () => {
  await using service = await startService({ env: { RATE_LIMIT_ENABLED: "true" } });
  const { token } = await service.createUser();
  const named = await service.call("GET", "/auth/me", { headers: { "x-request-id": "mine" } });
  expect(named.headers.get("www-authenticate")).toBe("Bearer");
  await service.request("/docs");
  const later = [
    await service.request("/healthz"),
    await service.call("GET", "/todos"),
    await service.call("POST", "/todos", { body: { title: "x" } }),
    await service.call("DELETE", "/todos/1"),
    await service.call("GET", "/auth/me", { token }),
    await service.call("GET", "/nowhere"),
  ];
  for (const { headers } of later) {
    expect(headers.get("content-security-policy")).toBe(API_POLICY);
    expect(headers.get("cache-control")).toBe("no-store");
    for (const name of ["www-authenticate", "content-encoding", "etag"])
      expect(headers.has(name)).toBe(false);
  }
  expect(new Set(later.map(({ headers }) => headers.get("x-request-id"))).size).toBe(later.length);
  const remaining = later.map(({ headers }) => headers.get("ratelimit-remaining"));
  expect(new Set(remaining).size).toBe(remaining.length);
});
