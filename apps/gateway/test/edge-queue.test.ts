/** The wait for a hash: a login that stands in the queue is answered, however long that takes, and keeps its connection. */
import { expect, test } from "bun:test";
import type { Hasher } from "@latchkey/hashing";
import { openWire, type Wire } from "./edge-wire.ts";
import { type Service, startService } from "./service.ts";

const NOBODY = { email: "nobody@example.org", password: "whatever" };

function loginBytes(body: object): string {
  const text = JSON.stringify(body);
  const head = ["POST /auth/login HTTP/1.1", "Host: x", "Content-Type: application/json"];
  return [...head, `Content-Length: ${text.length}`, "", text].join("\r\n");
}

/** A hasher that holds back the logins of one person until it is told otherwise. */
function holdBack(): { wrapHasher(hasher: Hasher): Hasher; held: Promise<void>; release(): void } {
  const held = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const wrapHasher = (hasher: Hasher): Hasher => ({
    ...hasher,
    async verify(password, ...others) {
      if (password === NOBODY.password) {
        held.resolve();
        await released.promise;
      }
      return hasher.verify(password, ...others);
    },
  });
  return { wrapHasher, held: held.promise, release: released.resolve };
}

test("a login that waits longer than the idle timeout is answered, and the timeout holds again behind the answer", async () => {
  const { wrapHasher, held, release } = holdBack();
  await using service = await startService({ idleTimeoutSeconds: 1, wrapHasher });
  const { email, password } = await service.register();
  using waiting: Wire = await openWire(service);
  using answered: Wire = await openWire(service);

  waiting.send(loginBytes(NOBODY));
  await held;
  answered.send(loginBytes({ email, password }));
  expect(await answered.answer("POST")).toMatchObject({ status: 200 });
  // It has said nothing since, and later than the one that waits.
  await answered.closed;

  expect(waiting.isOpen).toBe(true);
  release();
  expect(await waiting.answer("POST")).toMatchObject({ status: 401 });
});

test.each([
  ["register", "POST /auth/register", { email: "new@example.org", username: "new", password: "long enough" }, 201],
  ["a new password", "PATCH /auth/me", { password: "long enough" }, 200],
] as const)("so is %s", async (_name, operation, body, status) => {
  const held = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const wrapHasher = (hasher: Hasher): Hasher => ({
    ...hasher,
    async hash(password, ...others) {
      if (password === body.password) {
        held.resolve();
        await released.promise;
      }
      return hasher.hash(password, ...others);
    },
  });
  await using service = await startService({ idleTimeoutSeconds: 1, wrapHasher });
  const { token } = await service.person();
  const [method = "", path = ""] = operation.split(" ");
  const answer = service.call(method, path, { token, body });
  await held.promise;
  using idle: Wire = await openWire(service);
  idle.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
  await idle.closed;
  released.resolve();
  expect((await answer).status).toBe(status);
});

test("a client that hangs up while it waits harms nobody", async () => {
  const { wrapHasher, held, release } = holdBack();
  await using service = await startService({ wrapHasher });
  using waiting: Wire = await openWire(service);
  waiting.send(loginBytes(NOBODY));
  await held;
  waiting[Symbol.dispose]();
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
