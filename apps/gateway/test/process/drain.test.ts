/** The drain as a client sees it: what was begun is finished, nobody is cut off, and a bug ends the process in order too. */
import { expect, test } from "bun:test";
import { connect } from "node:net";
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { post, startProcess } from "@latchkey/testing/service-process";
import pino from "pino";
import { createShutdown } from "../../src/lifecycle/shutdown.ts";

const PERSON = { email: "ada@example.org", username: "ada", password: "correct horse battery" };
/** One derivation at a time, so that logins sent together wait for each other. */
const UNLIMITED = { RATE_LIMIT_ENABLED: "false", HASH_KERNEL: "portable" };

/** A connection that stays open between what is sent; `until` waits for this text in all that came. */
function converse(url: string) {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  let received = "";
  const waiting = new Set<() => void>();
  socket.on("data", (bytes) => {
    received += String(bytes);
    for (const check of waiting) check();
  });
  socket.on("close", () => close());
  socket.on("error", () => close());
  return {
    send: (text: string) => new Promise<void>((resolve) => void socket.write(text, () => resolve())),
    closed,
    received: () => received,
    until: (text: string) =>
      new Promise<void>((resolve) => {
        const check = () => {
          if (received.includes(text)) resolve();
        };
        waiting.add(check);
        check();
      }),
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

/** Resolves once nothing accepts connections at `url` any more: the drain has begun. */
async function refused(url: string): Promise<void> {
  while (
    await fetch(url, { keepalive: false }).then(
      () => true,
      () => false,
    )
  )
    await Bun.sleep(5);
}

test("while it stops, each answer ends its connection, so that the next request goes elsewhere", async () => {
  await using folder = await openFolder();
  await using service = startProcess({ DATABASE_URL: folder.databaseUrl, SHUTDOWN_DELAY_SECONDS: "3600" });
  using connection = converse(await service.ready());
  await connection.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
  await connection.until('{"status":"ok"}');
  expect(connection.received().toLowerCase()).not.toContain("connection: close");
  service.signal("SIGTERM");
  await service.line("stopping");
  await connection.send("GET /todos HTTP/1.1\r\nHost: x\r\n\r\n");
  await connection.closed;
  expect(connection.received()).toContain('"items":[]');
  expect(connection.received().toLowerCase()).toContain("connection: close");
});

test("clients that leave when they are told to lose no request, and each that was answered has its line", async () => {
  await using folder = await openFolder();
  await using service = startProcess({
    ...UNLIMITED,
    DATABASE_URL: folder.databaseUrl,
    SHUTDOWN_DELAY_SECONDS: "1",
  });
  const url = await service.ready();
  let answered = 0;
  const client = async (): Promise<void> => {
    for (;;) {
      const response = await fetch(`${url}/todos`);
      expect(response.status).toBe(200);
      await response.arrayBuffer();
      answered += 1;
      if (answered === 200) service.signal("SIGTERM");
      if (response.headers.get("connection") === "close") return;
    }
  };
  await Promise.all(Array.from({ length: 8 }, client));
  expect((await service.ended()).code).toBe(0);
  await service.line("stopped");
  expect(service.lines.filter(({ route }) => route === "/todos")).toHaveLength(answered);
});

test("new connections are refused while a request that was half sent is read to its end and answered", async () => {
  await using folder = await openFolder();
  await using service = startProcess({ DATABASE_URL: folder.databaseUrl });
  const url = await service.ready();
  using connection = converse(url);
  const body = '{"title":"begun before the end"}';
  const head = `POST /todos HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  await connection.send(head + body.slice(0, 10));
  // A whole exchange later the half has arrived too.
  await fetch(`${url}/healthz`);
  service.signal("SIGTERM");
  await refused(`${url}/healthz`);
  await connection.send(body.slice(10));
  await connection.closed;
  expect(connection.received()).toStartWith("HTTP/1.1 201");
  expect(connection.received()).toContain("begun before the end");
  expect((await service.ended()).code).toBe(0);
});

test("a client that never finishes keeps it no longer than the grace, and the exit code says so", async () => {
  await using folder = await openFolder();
  await using service = startProcess({ DATABASE_URL: folder.databaseUrl, SHUTDOWN_GRACE_SECONDS: "1" });
  const url = await service.ready();
  using connection = converse(url);
  await connection.send(
    "POST /todos HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{",
  );
  await fetch(`${url}/healthz`);
  service.signal("SIGTERM");
  expect(await service.ended()).toEqual({ code: 1, stderr: "" });
  expect(await service.line("shutdown took longer than its grace")).toMatchObject({ level: "error" });
});

test.each([
  ["SIGUSR1", "uncaughtException"],
  ["SIGUSR2", "unhandledRejection"],
] as const)(
  "a bug outside of any request (%s) is logged, what was begun is finished, the exit code is 1",
  async (signal, event) => {
    await using folder = await openFolder();
    const preload = `--preload=${join(import.meta.dir, "../support/fail-on-signal.ts")}`;
    await using service = startProcess({
      ...UNLIMITED,
      DATABASE_URL: folder.databaseUrl,
      BUN_OPTIONS: preload,
    });
    const url = await service.ready();
    expect((await post(`${url}/auth/register`, PERSON)).status).toBe(201);
    const logins = Array.from({ length: 4 }, () => post(`${url}/auth/login`, PERSON));
    await Promise.race(logins);
    service.signal(signal);
    const answers = await Promise.all(logins);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await service.ended()).toEqual({ code: 1, stderr: "" });
    expect(await service.line(event)).toMatchObject({
      level: "fatal",
      err: { type: "TypeError", message: "a bug outside of any request", stack: expect.any(String) },
    });
    expect(await service.line("stopped")).toBeDefined();
  },
);

test("a failure while it stops already is not passed over: the exit code tells of it", async () => {
  const exited = Promise.withResolvers<number>();
  const shutdown = createShutdown({
    delayMs: 0,
    graceMs: 10_000,
    logger: pino({ level: "silent" }),
    steps: [async () => shutdown.begin("uncaughtException", 1)],
    exit: exited.resolve,
  });
  shutdown.onSignal("SIGTERM");
  expect(await exited.promise).toBe(1);
});
