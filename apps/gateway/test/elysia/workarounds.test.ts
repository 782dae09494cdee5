/**
 * Elysia reads the source of all hooks to decide what to parse before it runs them. A single careless hook, also of a plugin,
 * makes it parse cookies, headers and body of every request, which is slow and can fail. The default headers are shared by
 * all responses, but the headers of one response are not.
 */
import { expect, test } from "bun:test";
import { shareService } from "../support/service.ts";

const shared = shareService({ env: { RATE_LIMIT_ENABLED: "true" } });

const hasInference = (app: object): app is { readonly inference: Readonly<Record<string, boolean>> } =>
  "inference" in app;

test("no middleware makes the router parse body, cookies, headers or query of every request", () => {
  const app: object = shared().app;
  if (!hasInference(app)) throw new Error("The router no longer exposes what it infers");
  const { body, cookie, headers, query, server } = app.inference;
  expect([body, cookie, headers, query, server]).toEqual([false, false, false, false, false]);
});

test("a route that waits for nothing responds in the turn in which its request arrived", () => {
  // One asynchronous hook makes this function asynchronous.
  const response: unknown = shared().app.fetch(new Request("http://localhost/healthz"));
  expect(response).toBeInstanceOf(Response);
});

test("headers of one response never appear in another one", async () => {
  const service = shared();
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
    expect(headers.get("content-security-policy")).toBe("default-src 'none'; frame-ancestors 'none'");
    expect(headers.get("cache-control")).toBe("no-store");
    for (const name of ["www-authenticate", "content-encoding", "etag"])
      expect(headers.has(name)).toBe(false);
  }
  expect(new Set(later.map(({ headers }) => headers.get("x-request-id"))).size).toBe(later.length);
  const remaining = later.map(({ headers }) => headers.get("ratelimit-remaining"));
  expect(new Set(remaining).size).toBe(remaining.length);
});
