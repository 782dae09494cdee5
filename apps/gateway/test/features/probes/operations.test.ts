/** The probes: liveness always succeeds, readiness requires a database that responds within a second. */
import { expect, test } from "bun:test";
import { createReadiness } from "../../../src/features/probes/service.ts";
import { startService } from "../../support/service.ts";

test("/healthz returns exactly ok and /readyz exactly ready, for HTTP/1.0 and any Host: none, a foreign or a very long one", async () => {
  await using service = await startService();
  const hosts = ["x", "localhost:80", "10.1.2.3", "[::1]:9", "evil.example.com", "h".repeat(253)];
  const versions = ["1.0\r\n", "1.0\r\nHost: x\r\n", ...hosts.map((host) => `1.1\r\nHost: ${host}\r\n`)];
  for (const [path, status] of [
    ["/healthz", "ok"],
    ["/readyz", "ready"],
  ]) {
    for (const version of versions) {
      for (const method of ["GET", "HEAD"]) {
        const response = await service.raw(`${method} ${path} HTTP/${version}Connection: close\r\n\r\n`);
        expect(response).toMatch(/^HTTP\/1\.[01] 200 OK\r\n/);
        expect(response).toEndWith(method === "GET" ? `\r\n\r\n{"status":"${status}"}` : "\r\n\r\n");
      }
    }
  }
});

test("with an unreachable database, /readyz returns 503 with exactly unavailable; /healthz needs neither database nor hasher", async () => {
  await using service = await startService({ env: { HASH_KERNEL: "portable" } });
  await service.database.close();
  await service.hasher.close();
  const ready = await service.call("GET", "/readyz");
  expect([ready.status, ready.text]).toEqual([503, '{"status":"unavailable"}']);
  const head = await service.call("HEAD", "/readyz");
  expect([head.status, head.text]).toEqual([503, ""]);
  const live = await service.call("GET", "/healthz");
  expect([live.status, live.text]).toEqual([200, '{"status":"ok"}']);
});

test("if the database does not respond, /readyz returns 503 after about a second", async () => {
  await using service = await startService({ wrapDatabase: () => ({ ping: () => new Promise(() => {}) }) });
  const started = performance.now();
  expect((await service.call("GET", "/readyz")).status).toBe(503);
  const tookMs = performance.now() - started;
  expect(tookMs).toBeGreaterThan(900);
  expect(tookMs).toBeLessThan(2000);
  expect((await service.call("GET", "/healthz")).status).toBe(200);
});

test("concurrent readiness checks share one query; a later check runs another", async () => {
  let pings = 0;
  const ping = async (): Promise<void> => void pings++;
  const { check } = createReadiness(ping, () => false);
  expect(await Promise.all([check(), check()])).toEqual([{ isReady: true }, { isReady: true }]);
  expect(pings).toBe(1);
  await check();
  expect(pings).toBe(2);
});

test("a check is not ready if the shutdown began before it or while it waited for the database", async () => {
  const ping = Promise.withResolvers<void>();
  let isStopping = false;
  const { check } = createReadiness(
    () => ping.promise,
    () => isStopping,
  );
  const started = check();
  isStopping = true;
  ping.resolve();
  expect(await Promise.all([started, check()])).toEqual([{ isReady: false }, { isReady: false }]);
});
