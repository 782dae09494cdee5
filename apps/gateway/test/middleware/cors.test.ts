/** Cross-origin access as a browser meets it: who may read, what a preflight grants, and that nobody else reads anything. */
import { expect, test } from "bun:test";
import { startService } from "../support/service.ts";

const LISTED = "https://app.example";
const PREFLIGHT = {
  "access-control-request-method": "PATCH",
  "access-control-request-headers": "authorization",
};

const allowedOrigin = (response: Response): string | null =>
  response.headers.get("access-control-allow-origin");

test("a listed origin may read answers and errors; the header repeats it, credentials stay off", async () => {
  await using service = await startService({ env: { CORS_ORIGINS: `https://other.example, ${LISTED}` } });
  for (const path of ["/todos", "/auth/me", "/nowhere", "/healthz"]) {
    const answer = await service.request(path, { headers: { origin: LISTED } });
    expect(allowedOrigin(answer)).toBe(LISTED);
    expect(answer.headers.get("vary")).toContain("Origin");
    expect(answer.headers.has("access-control-allow-credentials")).toBe(false);
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

test.each(FOREIGN)("the origin %s is not the listed one and reads nothing", async (origin) => {
  await using service = await startService({ env: { CORS_ORIGINS: LISTED } });
  for (const [method, headers] of [
    ["GET", {}],
    ["OPTIONS", PREFLIGHT],
  ] as const) {
    const answer = await service.request("/todos", { method, headers: { origin, ...headers } });
    expect(allowedOrigin(answer)).toBeNull();
    expect(answer.headers.get("vary")).toContain("Origin");
  }
});

test("a star lets any origin read, without repeating it", async () => {
  await using service = await startService({ env: { CORS_ORIGINS: "*" } });
  const answer = await service.request("/todos", { headers: { origin: "https://anywhere.example" } });
  expect(allowedOrigin(answer)).toBe("*");
  expect(answer.headers.get("vary")).toBe("Origin");
});

test("outside production any origin reads by default, in production none", async () => {
  await using development = await startService();
  await using production = await startService({ env: { NODE_ENV: "production" } });
  const headers = { origin: LISTED };
  expect(allowedOrigin(await development.request("/todos", { headers }))).toBe("*");
  expect(allowedOrigin(await production.request("/todos", { headers }))).toBeNull();
});

test("a preflight is 204 without a body and names methods, headers and how long it may be kept", async () => {
  await using service = await startService({ env: { CORS_ORIGINS: LISTED } });
  for (const path of ["/auth/me", "/todos", "/todos/1", "/nowhere"]) {
    const answer = await service.request(path, {
      method: "OPTIONS",
      headers: { origin: LISTED, ...PREFLIGHT },
    });
    expect(answer.status).toBe(204);
    expect(await answer.text()).toBe("");
    expect(allowedOrigin(answer)).toBe(LISTED);
    const list = (name: string) => answer.headers.get(name)?.split(/, */) ?? [];
    expect(list("access-control-allow-methods")).toEqual(["GET", "HEAD", "POST", "PATCH", "DELETE"]);
    expect(list("access-control-allow-headers")).toEqual(["Authorization", "Content-Type", "X-Request-ID"]);
    expect(answer.headers.get("access-control-max-age")).toBe("600");
  }
});

test("the answer exposes the request id, when to come back, and the quota", async () => {
  await using service = await startService();
  const answer = await service.request("/todos", { headers: { origin: LISTED } });
  expect(answer.headers.get("access-control-expose-headers")?.split(/, */)).toEqual([
    "X-Request-ID",
    "Retry-After",
    "RateLimit-Limit",
    "RateLimit-Remaining",
    "RateLimit-Reset",
  ]);
});

test("an OPTIONS that is no preflight is a method that no path has", async () => {
  await using service = await startService();
  for (const headers of [{}, { origin: LISTED }, { "access-control-request-method": "GET" }]) {
    const answer = await service.request("/todos", { method: "OPTIONS", headers });
    expect(answer.status).toBe(405);
    expect(answer.headers.get("allow")).toBe("GET, HEAD, POST");
  }
});
