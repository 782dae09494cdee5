/** The idle timeout closes the connection of a slow client, but not of a login that waits in the hash queue, however long. */
import { expect, test } from "bun:test";
import type { Hasher } from "@latchkey/hashing";
import { type Service, startService } from "../support/service.ts";
import { jsonRequest, openWire, type Wire } from "../support/wire.ts";

/** A request with this password waits. */
const SLOW = "slow password";

/** A hasher that delays `expected` derivations until `release` is called, like a long queue. */
function slowHasher(expected: number) {
  const allWait = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  let waiting = 0;
  const wait = async (password: string): Promise<void> => {
    if (password !== SLOW) return;
    waiting += 1;
    if (waiting === expected) allWait.resolve();
    await released.promise;
  };
  return {
    wrapHasher: ({ hash, verify }: Hasher): Partial<Hasher> => ({
      hash: (...call) => wait(call[0]).then(() => hash(...call)),
      verify: (...call) => wait(call[0]).then(() => verify(...call)),
    }),
    allWait: allWait.promise,
    release: released.resolve,
  };
}

async function sendRequest(
  { port }: Service,
  operation: string,
  { body = {}, token = "none" } = {},
): Promise<Wire> {
  const wire = await openWire({ port, deadlineMs: 30_000 });
  wire.send(jsonRequest(operation, JSON.stringify(body), `Authorization: Bearer ${token}`));
  return wire;
}

// At the same time, because the server measures idle connections every four seconds.
test.concurrent("a request that waits for a hash longer than the idle timeout gets a response, and the timeout applies again after the response", async () => {
  const { wrapHasher, allWait, release } = slowHasher(3);
  await using service = await startService({ idleTimeoutSeconds: 1, wrapHasher });
  const { email, username, password, token } = await service.createUser();
  const newcomer = { email: `new.${email}`, username: `new.${username}`, password: SLOW };

  using login = await sendRequest(service, "POST /auth/login", { body: { email, password: SLOW } });
  using register = await sendRequest(service, "POST /auth/register", { body: newcomer });
  using update = await sendRequest(service, "PATCH /auth/me", { body: { password: SLOW }, token });
  await allWait;
  using idle = await sendRequest(service, "POST /auth/login", { body: { email, password } });
  expect(await idle.readResponse("POST")).toMatchObject({ status: 200 });
  // It was idle for a shorter time than the three.
  await idle.closed;

  expect([login, register, update].map(({ isOpen }) => isOpen)).toEqual([true, true, true]);
  release();
  expect(await login.readResponse("POST")).toMatchObject({ status: 401 });
  expect(await register.readResponse("POST")).toMatchObject({ status: 201 });
  expect(await update.readResponse("PATCH")).toMatchObject({ status: 200 });
});

test.concurrent("a body that is incomplete after the idle timeout closes the connection, even if bytes keep arriving", async () => {
  await using service = await startService({ idleTimeoutSeconds: 1 });
  using wire = await openWire(service);
  wire.send(
    "POST /auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{",
  );
  const sending = setInterval(() => wire.send("x"), 100);
  try {
    await wire.closed;
  } finally {
    clearInterval(sending);
  }
  expect(service.log.filter(({ route }) => route === "/auth/login")).toMatchObject([{ status: 499 }]);
});

test.concurrent("IDLE_TIMEOUT_SECONDS is the idle time until a connection is closed; with 0, it is never closed", async () => {
  const openIdle = async (seconds: string) => {
    const service = await startService({ env: { IDLE_TIMEOUT_SECONDS: seconds } });
    const wire = await openWire(service);
    wire.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    expect((await wire.readResponse("GET"))?.status).toBe(200);
    return { service, wire };
  };
  const [never, ten] = [await openIdle("0"), await openIdle("10")];
  await using _first = never.service;
  await using _second = ten.service;
  const start = performance.now();
  await ten.wire.closed;
  // Bun closes up to four seconds early. The default is 75 seconds.
  expect(performance.now() - start).toBeGreaterThan(5_000);
  expect(never.wire.isOpen).toBe(true);
  never.wire[Symbol.dispose]();
});
