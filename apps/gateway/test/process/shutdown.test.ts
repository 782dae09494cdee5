/** Shutdown as clients see it: accepted requests are finished, and new ones go to another replica. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import type { AccountEventPage } from "@latchkey/contracts";
import { openDatabase } from "@latchkey/database";
import { openFolder } from "@latchkey/testing/folder";
import { inFullRun } from "@latchkey/testing/full-run";
import { post, startProcess } from "@latchkey/testing/service-process";
import { startInFolder } from "../support/service-process.ts";
import { jsonRequest, openWire, type Wire } from "../support/wire.ts";

const USER = { email: "ada@example.org", username: "ada", password: "correct horse battery" };
/** One derivation at a time: concurrent logins wait for each other. */
const UNLIMITED = { RATE_LIMIT_ENABLED: "false", HASH_KERNEL: "portable" };

const connectTo = (url: string): Promise<Wire> => openWire({ port: Number(new URL(url).port) });
const GET = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

/** Resolves when `url` refuses connections: draining has begun. */
async function untilRefused(url: string): Promise<void> {
  while (await fetch(url, { keepalive: false }).catch(() => null)) await Bun.sleep(5);
}

const FATAL = {
  level: "fatal",
  err: { type: "TypeError", message: "a bug outside of any request", stack: expect.any(String) },
};

for (const [runner, cause, code, signal, event, line] of [
  [test, "SIGTERM", 0, "SIGTERM", "stopping", { level: "info" }],
  [inFullRun(test), "SIGHUP", 0, "SIGHUP", "stopping", { level: "info" }],
  [test, "an exception outside of any request", 1, "SIGUSR1", "uncaughtException", FATAL],
  [inFullRun(test), "a rejection outside of any request", 1, "SIGUSR2", "unhandledRejection", FATAL],
] as const)
  runner(
    `after ${cause}, which is logged, waiting logins are finished, and the exit code is ${code}`,
    async () => {
      const preload = `--preload=${join(import.meta.dir, "../support/fail-on-signal.ts")}`;
      await using service = await startInFolder({ ...UNLIMITED, BUN_OPTIONS: preload });
      const url = await service.ready();
      expect((await post(`${url}/auth/register`, USER)).status).toBe(201);
      const logins = Array.from({ length: 3 }, () => post(`${url}/auth/login`, USER));
      // After the first response, the others are in the queue.
      await Promise.race(logins);
      service.signal(signal);
      expect(await service.line(event)).toMatchObject(line);
      const responses = await Promise.all(logins);
      expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
      for (const response of responses) expect(await response.json()).toMatchObject({ token_type: "bearer" });
      expect(await service.ended()).toEqual({ code, stderr: "" });
      expect(service.lines.at(-1)).toMatchObject({ msg: "stopped" });
    },
  );

test("SIGTERM ends requests that wait for events, and the start warns if events are kept for too short", async () => {
  await using folder = await openFolder();
  await using database = await openDatabase({ url: folder.databaseUrl });
  await database.migrate();
  await database.events.enable(1);
  const key = "e".repeat(32);
  await using service = startProcess({
    ...{ DATABASE_URL: folder.databaseUrl, METRICS_PORT: "0", AUTH_TOKEN_EXPIRE_MINUTES: "1440" },
    ...{ ADMIN_PORT: "0", ADMIN_EVENT_KEYS: `api:${key}` },
  });
  const { administration, metrics } = await service.line("ready");
  const read = async (query: string): Promise<AccountEventPage> => {
    const response = await fetch(`${administration}/events?${query}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    return response.json() as Promise<AccountEventPage>;
  };
  const { next_cursor } = await read("after=now");
  const waits = Array.from({ length: 100 }, () => read(`after=${next_cursor}&wait=25`));
  const waiting = /^account_events_waiting_readers 100$/m;
  while (!waiting.test(await (await fetch(String(metrics))).text()));
  service.signal("SIGTERM");
  await service.line("stopping");
  expect(await Promise.all(waits)).toEqual(Array(100).fill({ items: [], next_cursor }));
  expect((await service.ended()).code).toBe(0);
  expect(service.lines).toContainEqual(
    expect.objectContaining({ msg: expect.stringMatching(/account events are kept for 1 days/) }),
  );
});

inFullRun(test)("a service started by nohup survives SIGHUP", async () => {
  await using service = await startInFolder({}, { wrapper: ["nohup"] });
  const url = await service.ready();
  service.signal("SIGHUP");
  service.signal("SIGTERM");
  expect(await service.line("stopping")).toMatchObject({ reason: "SIGTERM" });
  expect((await service.ended()).code).toBe(0);
  expect(url).toBeString();
});

inFullRun(test.concurrent)("an idle connection does not delay the shutdown", async () => {
  await using service = await startInFolder({ SHUTDOWN_GRACE_SECONDS: "60" });
  using wire = await connectTo(await service.ready());
  wire.send(GET("/healthz"));
  await wire.readResponse("GET");
  service.signal("SIGTERM");
  expect((await service.ended()).code).toBe(0);
});

inFullRun(test.concurrent)(
  "a duplicate signal is ignored; a second signal more than 0.5 s later forces an exit",
  async () => {
    await using service = await startInFolder({ SHUTDOWN_DELAY_SECONDS: "3600" });
    const url = await service.ready();
    service.signal("SIGTERM");
    service.signal("SIGINT");
    await service.line("stopping");
    expect((await fetch(`${url}/readyz`)).status).toBe(503);
    // The other process measures real time.
    await Bun.sleep(600);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    service.signal("SIGTERM");
    expect((await service.ended()).code).toBe(143);
  },
);

inFullRun(test.concurrent)(
  "clients that follow `Connection: close` lose no request, and every response is logged",
  async () => {
    await using service = await startInFolder({ ...UNLIMITED, SHUTDOWN_DELAY_SECONDS: "1" });
    const url = await service.ready();
    let responded = 0;
    const client = async (): Promise<void> => {
      for (;;) {
        const response = await fetch(`${url}/todos`);
        expect(response.status).toBe(200);
        await response.arrayBuffer();
        responded += 1;
        if (responded === 200) service.signal("SIGTERM");
        if (response.headers.get("connection") === "close") return;
      }
    };
    await Promise.all(Array.from({ length: 8 }, client));
    expect((await service.ended()).code).toBe(0);
    await service.line("stopped");
    expect(service.lines.filter(({ route }) => route === "/todos")).toHaveLength(responded);
  },
);

test.concurrent("while draining, new connections are refused and a partly sent request is finished", async () => {
  await using service = await startInFolder();
  const url = await service.ready();
  using wire = await connectTo(url);
  const todo = jsonRequest("POST /todos", '{"title":"sent in two parts"}');
  wire.send(todo.slice(0, -10));
  // After another complete request, the first part has arrived too.
  await fetch(`${url}/healthz`);
  service.signal("SIGTERM");
  await untilRefused(`${url}/healthz`);
  wire.send(todo.slice(-10));
  const response = await wire.readResponse("POST");
  expect([response?.status, String(response?.body)]).toEqual([
    201,
    expect.stringContaining("sent in two parts"),
  ]);
  expect((await service.ended()).code).toBe(0);
});

inFullRun(test.concurrent)(
  "a client that never finishes its request delays the exit by no more than the grace period, and the exit code is 1",
  async () => {
    await using service = await startInFolder({ SHUTDOWN_GRACE_SECONDS: "1" });
    const url = await service.ready();
    using wire = await connectTo(url);
    wire.send(jsonRequest("POST /todos", '{"title":"never complete"}').slice(0, -1));
    await fetch(`${url}/healthz`);
    service.signal("SIGTERM");
    expect(await service.ended()).toEqual({ code: 1, stderr: "" });
    expect(await service.line("shutdown took longer than its grace")).toMatchObject({ level: "error" });
  },
);
