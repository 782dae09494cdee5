/** The probes: liveness always succeeds, readiness requires a database that responds within a second. */
import { expect, test } from "bun:test";
import type { Database } from "@latchkey/database";
import { eachDatabase } from "../../support/service.ts";

const probe = (path: string, version: "1.0" | "1.1", host: string | null, method = "GET") =>
  `${method} ${path} HTTP/${version}\r\n${host === null ? "" : `Host: ${host}\r\n`}Connection: close\r\n\r\n`;

eachDatabase((startService) => {
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

  test("every probe response has Cache-Control: no-store", async () => {
    let isStopping = false;
    await using service = await startService({ isStopping: () => isStopping });
    for (const path of ["/healthz", "/readyz", "/healthz?x=1"]) {
      for (isStopping of [false, true]) {
        expect((await service.call("GET", path)).headers.get("cache-control")).toBe("no-store");
      }
    }
  });

  test("HEAD returns the same as GET, without the body", async () => {
    await using service = await startService();
    for (const path of ["/healthz", "/readyz"]) {
      const [head, get] = [await service.call("HEAD", path), await service.call("GET", path)];
      expect([head.status, head.text]).toEqual([200, ""]);
      expect(head.headers.get("content-length")).toBe(get.headers.get("content-length"));
    }
  });

  test("HTTP/1.0 is accepted, with and without a Host", async () => {
    await using service = await startService();
    for (const path of ["/healthz", "/readyz"]) {
      for (const host of [null, "x", "example.org"]) {
        expect(await service.raw(probe(path, "1.0", host))).toMatch(/^HTTP\/1\.[01] 200 OK\r\n/);
      }
    }
  });

  test("any Host is accepted: one letter, a name, an address, a port, a foreign or a very long one", async () => {
    await using service = await startService();
    const hosts = ["x", "a.b", "localhost:80", "10.1.2.3", "[::1]:9", "evil.example.com", "h".repeat(253)];
    for (const host of hosts) {
      for (const path of ["/healthz", "/readyz"]) {
        const response = await service.raw(probe(path, "1.1", host));
        expect([host, response.slice(0, 15)]).toEqual([host, "HTTP/1.1 200 OK"]);
        expect(await service.raw(probe(path, "1.1", host, "HEAD"))).toStartWith("HTTP/1.1 200 OK");
      }
    }
  });

  test("a probe needs no token and is not rate-limited", async () => {
    const env = { RATE_LIMIT_ENABLED: "true", RATE_LIMIT_DEFAULT: "1/hour" };
    await using service = await startService({ env });
    await service.call("GET", "/todos");
    expect((await service.call("GET", "/todos")).status).toBe(429);
    for (const path of ["/healthz", "/readyz", "/healthz", "/readyz", "/readyz?x", "/healthz/"]) {
      const response = await service.call("GET", path);
      expect([path, response.status, response.headers.get("ratelimit-limit")]).toEqual([path, 200, null]);
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

  test("with an unreachable database, every other route that needs it returns 503 in the envelope, the rest work", async () => {
    await using service = await startService();
    const { token, email, password } = await service.createUser();
    await service.database.close();
    const responses = await Promise.all([
      service.call("GET", "/todos"),
      service.call("GET", "/todos/1"),
      service.call("POST", "/todos", { body: { title: "x" } }),
      service.call("PATCH", "/todos/1", { body: { title: "x" } }),
      service.call("DELETE", "/todos/1"),
      service.call("GET", "/auth/me", { token }),
      service.call("POST", "/auth/login", { body: { email, password } }),
      service.call("POST", "/auth/register", { body: { email, username: "x", password } }),
    ]);
    for (const { status, body } of responses) {
      expect([status, body]).toEqual([
        503,
        { detail: "The database is unavailable", code: "DATABASE_UNAVAILABLE" },
      ]);
    }
    expect((await service.call("GET", "/auth/me")).status).toBe(401);
    expect((await service.call("POST", "/todos", { body: {} })).status).toBe(422);
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
    expect(new Set((await Promise.all(many)).map(({ text }) => text))).toEqual(
      new Set(['{"status":"ready"}']),
    );
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

  test("while the service is shutting down, it is alive but not ready", async () => {
    let isStopping = false;
    await using service = await startService({ isStopping: () => isStopping });
    expect((await service.call("GET", "/readyz")).status).toBe(200);
    isStopping = true;
    const ready = await service.call("GET", "/readyz");
    expect([ready.status, ready.text]).toEqual([503, '{"status":"unavailable"}']);
    expect((await service.call("GET", "/healthz")).status).toBe(200);
    expect((await service.call("GET", "/todos")).status).toBe(200);
  });
});
