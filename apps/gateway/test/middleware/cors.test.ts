/** CORS as browsers apply it: which origins can read responses, and what a preflight allows. */
import { expect, test } from "bun:test";
import { startService } from "../support/service.ts";

const LISTED = "https://app.example";
const PREFLIGHT = {
  "access-control-request-method": "PATCH",
  "access-control-request-headers": "authorization",
};

const allowedOrigin = (response: Response): string | null =>
  response.headers.get("access-control-allow-origin");

test("a listed origin can read responses and errors: the header repeats the origin and never allows credentials", async () => {
  await using service = await startService({ env: { CORS_ORIGINS: `https://other.example, ${LISTED}` } });
  for (const path of ["/todos", "/auth/me", "/nowhere", "/healthz"]) {
    const response = await service.request(path, { headers: { origin: LISTED } });
    expect(allowedOrigin(response)).toBe(LISTED);
    expect(response.headers.get("vary")).toContain("Origin");
    expect(response.headers.has("access-control-allow-credentials")).toBe(false);
  }
});

const FOREIGN = [
  "https://evil.example",
  "http://app.example",
  "https://app.example:8443",
  "https://app.example.evil.example",
  "https://sub.app.example",
  "app.example",
  "HTTPS://APP.EXAMPLE",
  "null",
  "*",
];

test.each(FOREIGN)(
  "the origin %s does not match the listed origin and cannot read responses",
  async (origin) => {
    await using service = await startService({ env: { CORS_ORIGINS: LISTED } });
    for (const [method, headers] of [
      ["GET", {}],
      ["OPTIONS", PREFLIGHT],
    ] as const) {
      const response = await service.request("/todos", { method, headers: { origin, ...headers } });
      expect(allowedOrigin(response)).toBeNull();
      expect(response.headers.get("vary")).toContain("Origin");
    }
  },
);

test("with *, any origin can read responses, and the header is * itself", async () => {
  await using service = await startService({ env: { CORS_ORIGINS: "*" } });
  const response = await service.request("/todos", { headers: { origin: "https://anywhere.example" } });
  expect(allowedOrigin(response)).toBe("*");
  expect(response.headers.get("vary")).toBe("Origin");
});

test("by default, every origin is allowed outside production and none in production", async () => {
  await using development = await startService();
  await using production = await startService({ env: { NODE_ENV: "production" } });
  const headers = { origin: LISTED };
  expect(allowedOrigin(await development.request("/todos", { headers }))).toBe("*");
  expect(allowedOrigin(await production.request("/todos", { headers }))).toBeNull();
});

test("a preflight returns 204 without a body, with the allowed methods and headers and a maximum age", async () => {
  await using service = await startService({ env: { CORS_ORIGINS: LISTED } });
  for (const path of ["/auth/me", "/todos", "/todos/1", "/nowhere"]) {
    const response = await service.request(path, {
      method: "OPTIONS",
      headers: { origin: LISTED, ...PREFLIGHT },
    });
    expect(response.status).toBe(204);
    expect(await response.text()).toBe("");
    expect(allowedOrigin(response)).toBe(LISTED);
    const list = (name: string) => response.headers.get(name)?.split(/, */) ?? [];
    expect(list("access-control-allow-methods")).toEqual(["GET", "HEAD", "POST", "PATCH", "DELETE"]);
    expect(list("access-control-allow-headers")).toEqual(["Authorization", "Content-Type", "X-Request-ID"]);
    expect(response.headers.get("access-control-max-age")).toBe("600");
  }
});

test("responses expose X-Request-ID, Retry-After and RateLimit-*", async () => {
  await using service = await startService();
  const response = await service.request("/todos", { headers: { origin: LISTED } });
  expect(response.headers.get("access-control-expose-headers")?.split(/, */)).toEqual([
    "X-Request-ID",
    "Retry-After",
    "RateLimit-Limit",
    "RateLimit-Remaining",
    "RateLimit-Reset",
  ]);
});

test("an OPTIONS request that is not a preflight returns 405", async () => {
  await using service = await startService();
  for (const headers of [{}, { origin: LISTED }, { "access-control-request-method": "GET" }]) {
    const response = await service.request("/todos", { method: "OPTIONS", headers });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("GET, HEAD, POST");
  }
});
