/** The probes: liveness always succeeds, readiness requires a database that responds within a second. */
import { expect, test } from "bun:test";
import type { Database } from "@latchkey/database";
import { startService } from "../../support/service.ts";

const probe = (path: string, version: string, host: string | null | undefined, method: string) =>
  `${method} ${path} HTTP/${version}\r\n${host ? `Host: ${host}\r\n` : ""}Connection: close\r\n\r\n`;

test("GET /healthz returns 200 with exactly the status ok, GET /readyz with ready", async () => {
  await using service = await startService();
  for (const [path, status] of [
    ["/healthz", "ok"],
    ["/readyz", "ready"],
  ] as const) {
    const response = await service.call("GET", path);
    expect([response.status, response.text]).toEqual([200, JSON.stringify({ status })]);
    expect(response.headers.get("content-type")).toMatch(/^application\/json/);
  }
});

test("HTTP/1.0 and any Host are accepted: none, a name, an address, a port, a foreign or a very long one", async () => {
  await using service = await startService();
  const hosts = ["x", "localhost:80", "10.1.2.3", "[::1]:9", "evil.example.com", "h".repeat(253)];
  for (const [version, host] of [
    ["1.0", null],
    ["1.0", "x"],
    ...hosts.map((name) => ["1.1", name]),
  ] as const) {
    for (const path of ["/healthz", "/readyz"]) {
      for (const method of ["GET", "HEAD"]) {
        const response = await service.raw(probe(path, `${version}`, host, method));
        expect([host, response]).toEqual([host, expect.stringMatching(/^HTTP\/1\.[01] 200 OK\r\n/)]);
      }
    }
  }
});

test("with an unreachable database, /readyz returns 503 with exactly unavailable, and /healthz returns 200", async () => {
  await using service = await startService();
  await service.database.close();
  const ready = await service.call("GET", "/readyz");
  expect([ready.status, ready.text]).toEqual([503, '{"status":"unavailable"}']);
  const head = await service.call("HEAD", "/readyz");
  expect([head.status, head.text]).toEqual([503, ""]);
  expect((await service.call("GET", "/healthz")).text).toBe('{"status":"ok"}');
});

test("if the database does not respond, /readyz returns 503 after about a second", async () => {
  const wrapDatabase = (database: Database): Database => ({
    ...database,
    ping: () => new Promise(() => {}),
  });
  await using service = await startService({ wrapDatabase });
  const started = performance.now();
  expect((await service.call("GET", "/readyz")).status).toBe(503);
  const tookMs = performance.now() - started;
  expect(tookMs).toBeGreaterThan(900);
  expect(tookMs).toBeLessThan(2000);
  expect((await service.call("GET", "/healthz")).status).toBe(200);
});

test("concurrent readiness checks share one query; a later check runs another", async () => {
  let pings = 0;
  let calls = 0;
  const allWaiting = Promise.withResolvers<void>();
  const response = Promise.withResolvers<void>();
  const wrapDatabase = (database: Database): Database => ({
    ...database,
    ping: () => {
      pings += 1;
      return response.promise;
    },
  });
  // Each request calls isStopping twice before the query: for its connection and for readiness.
  const isStopping = () => {
    calls += 1;
    if (calls === 40) allWaiting.resolve();
    return false;
  };
  await using service = await startService({ wrapDatabase, isStopping });
  const many = Array.from({ length: 20 }, () => service.call("GET", "/readyz"));
  await allWaiting.promise;
  response.resolve();
  expect(new Set((await Promise.all(many)).map(({ text }) => text))).toEqual(new Set(['{"status":"ready"}']));
  expect(pings).toBe(1);
  await service.call("GET", "/readyz");
  expect(pings).toBe(2);
});

test("/healthz uses neither the database nor the hasher", async () => {
  const refuse = (): never => {
    throw new Error("unexpected call");
  };
  const wrapDatabase = (database: Database): Database =>
    new Proxy(database, { get: (target, name) => (name === "ping" ? refuse : Reflect.get(target, name)) });
  await using service = await startService({ wrapDatabase, env: { HASH_KERNEL: "portable" } });
  await service.hasher.close();
  expect((await service.call("GET", "/healthz")).status).toBe(200);
  const login = { email: "a@example.org", password: "x" };
  const response = await service.call("POST", "/auth/login", { body: login });
  expect([response.status, response.body]).toEqual([
    503,
    { detail: "The service is stopping", code: "HASHER_CLOSED" },
  ]);
  expect(response.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
});
