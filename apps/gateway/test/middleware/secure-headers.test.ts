/** The security headers of every response, and that no header reveals the server software. */
import { expect, test } from "bun:test";
import { startService } from "../support/service.ts";

const PATHS = ["/todos", "/auth/me", "/nowhere", "/healthz"];

test("every response has the security headers", async () => {
  await using service = await startService();
  for (const path of PATHS) {
    const { headers } = await service.request(path);
    expect(Object.fromEntries(headers)).toMatchObject({
      "cache-control": "no-store",
      "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=()",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
    });
  }
});

test("HSTS is sent in production only", async () => {
  await using development = await startService();
  await using production = await startService({ env: { NODE_ENV: "production" } });
  const transportOf = async (service: typeof production, path: string) =>
    (await service.request(path)).headers.get("strict-transport-security");
  for (const path of PATHS) {
    expect(await transportOf(production, path)).toBe("max-age=31536000; includeSubDomains");
    expect(await transportOf(development, path)).toBeNull();
  }
});

test("all responses under /auth have Cache-Control: no-store", async () => {
  await using service = await startService();
  const { token, email, password } = await service.createUser();
  const responses = [
    service.call("POST", "/auth/login", { body: { email, password } }),
    service.call("GET", "/auth/me", { token }),
    service.call("PATCH", "/auth/me", { token, body: {} }),
    service.call("GET", "/auth/me"),
    service.call("GET", "/auth/nowhere"),
    service.call("PUT", "/auth/login"),
  ];
  for (const { headers } of await Promise.all(responses))
    expect(headers.get("cache-control")).toBe("no-store");
});

test("no response header names the server software", async () => {
  await using service = await startService();
  for (const path of PATHS) {
    const { headers } = await service.request(path);
    for (const name of ["server", "x-powered-by", "via"]) expect(headers.has(name)).toBe(false);
  }
});
