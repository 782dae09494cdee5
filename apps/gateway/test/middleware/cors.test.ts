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

test("an origin that does not match the listed one exactly cannot read responses", async () => {
  await using service = await startService({ env: { CORS_ORIGINS: LISTED } });
  for (const origin of [`${LISTED}:8443`, `${LISTED}.evil.example`, LISTED.toUpperCase(), "null"]) {
    for (const [method, headers] of [
      ["GET", {}],
      ["OPTIONS", PREFLIGHT],
    ] as const) {
      const response = await service.request("/todos", { method, headers: { origin, ...headers } });
      expect([origin, allowedOrigin(response)]).toEqual([origin, null]);
      expect(response.headers.get("vary")).toContain("Origin");
    }
  }
});

test("with *, any origin can read responses, and the header is * itself", async () => {
  await using service = await startService({ env: { CORS_ORIGINS: "*" } });
  const response = await service.request("/todos", { headers: { origin: "https://anywhere.example" } });
  expect(allowedOrigin(response)).toBe("*");
  expect(response.headers.get("vary")).toBe("Origin");
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
    expect(response.headers.get("access-control-allow-credentials")).toBeNull();
    const list = (name: string) => response.headers.get(name)?.split(/, */) ?? [];
    expect(list("access-control-allow-methods")).toEqual(["GET", "HEAD", "POST", "PATCH", "DELETE"]);
    expect(list("access-control-allow-headers")).toEqual([
      "Authorization",
      "Content-Type",
      "X-Request-ID",
      "traceparent",
      "tracestate",
    ]);
    expect(response.headers.get("access-control-max-age")).toBe("600");
  }
});

test("packaged applications and extensions can be listed, with the origin that their webview sends", async () => {
  const origins = ["capacitor://localhost", "chrome-extension://aapbdbdomjkkjkaonfhkkikfgjllcleb"];
  await using service = await startService({ env: { CORS_ORIGINS: origins.join() } });
  for (const origin of [...origins, "capacitor://localhost:1", "ionic://localhost"]) {
    const response = await service.request("/todos", { headers: { origin } });
    expect(allowedOrigin(response)).toBe(origins.includes(origin) ? origin : null);
  }
});

test("an OPTIONS request that is not a preflight returns 405", async () => {
  await using service = await startService();
  for (const headers of [{}, { origin: LISTED }, { "access-control-request-method": "GET" }]) {
    const response = await service.request("/todos", { method: "OPTIONS", headers });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("GET, HEAD, POST");
  }
});
