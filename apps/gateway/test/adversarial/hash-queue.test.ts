/** The wait for a hash: a login that stands in the queue is answered, however long that takes, and keeps its connection. */
import { expect, test } from "bun:test";
import type { Hasher } from "@latchkey/hashing";
import { type Service, startService } from "../support/service.ts";
import { openWire, type Wire } from "../support/wire.ts";

/** Whoever has this password waits. */
const SLOW = "takes its time";

/** A hasher that keeps so many derivations waiting until it is told otherwise, as a long queue would. */
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
    wrapHasher: (hasher: Hasher): Hasher => ({
      ...hasher,
      hash: (password, options) => wait(password).then(() => hasher.hash(password, options)),
      verify: (password, stored, options) =>
        wait(password).then(() => hasher.verify(password, stored, options)),
    }),
    allWait: allWait.promise,
    release: released.resolve,
  };
}

async function ask({ port }: Service, operation: string, { body = {}, token = "none" } = {}): Promise<Wire> {
  const text = JSON.stringify(body);
  const head = [`${operation} HTTP/1.1`, "Host: x", "Content-Type: application/json"];
  const wire = await openWire({ port, deadlineMs: 30_000 });
  wire.send(
    [...head, `Authorization: Bearer ${token}`, `Content-Length: ${text.length}`, "", text].join("\r\n"),
  );
  return wire;
}

test("what waits for a hash longer than the idle timeout is answered; the timeout holds again behind the answer", async () => {
  const { wrapHasher, allWait, release } = slowHasher(3);
  await using service = await startService({ idleTimeoutSeconds: 1, wrapHasher });
  const { email, username, password, token } = await service.person();
  const newcomer = { email: `new.${email}`, username: `new.${username}`, password: SLOW };

  using login = await ask(service, "POST /auth/login", { body: { email, password: SLOW } });
  using register = await ask(service, "POST /auth/register", { body: newcomer });
  using update = await ask(service, "PATCH /auth/me", { body: { password: SLOW }, token });
  await allWait;
  using idle = await ask(service, "POST /auth/login", { body: { email, password } });
  expect(await idle.answer("POST")).toMatchObject({ status: 200 });
  // It has been silent for less time than the three.
  await idle.closed;

  expect([login, register, update].map(({ isOpen }) => isOpen)).toEqual([true, true, true]);
  release();
  expect(await login.answer("POST")).toMatchObject({ status: 401 });
  expect(await register.answer("POST")).toMatchObject({ status: 201 });
  expect(await update.answer("PATCH")).toMatchObject({ status: 200 });
}, 60_000);

test("a client that hangs up while it waits harms nobody", async () => {
  const { wrapHasher, allWait, release } = slowHasher(1);
  await using service = await startService({ wrapHasher });
  using login = await ask(service, "POST /auth/login", {
    body: { email: "nobody@example.org", password: SLOW },
  });
  await allWait;
  login[Symbol.dispose]();
  release();
  await service.login(await service.register());
  expect(service.log.filter(({ level }) => Number(level) >= 50)).toEqual([]);
});

/** So many logins at once that the queue of two is full. */
async function crowd(service: Service): Promise<number[]> {
  const { email, password } = await service.register();
  const answers = await Promise.all(
    Array.from({ length: 40 }, () => service.call("POST", "/auth/login", { body: { email, password } })),
  );
  for (const { status, headers } of answers) {
    if (status === 503) expect(headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
  }
  return answers.map(({ status }) => status);
}

test("through a full queue whoever stands in it logs in, and the others are told when to come back", async () => {
  await using service = await startService({ hashing: "production", env: { HASH_QUEUE_LIMIT: "2" } });
  const statuses = await crowd(service);
  expect(new Set(statuses)).toEqual(new Set([200, 503]));
  expect(service.hasher.stats().completed).toBe(1 + statuses.filter((status) => status === 200).length);
});
