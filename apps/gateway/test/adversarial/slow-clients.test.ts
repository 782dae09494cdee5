/** Slow clients do not delay other clients; `idle-timeout.test.ts` shows that none keeps a connection open forever. */
import { expect, test } from "bun:test";
import { startService } from "../support/service.ts";
import { openWire } from "../support/wire.ts";

const CONNECTIONS = 500;
const ROUNDS = 20;

/** The part that a slow client sends at once, before it sends single bytes. */
const BEGINNINGS = [
  "POST /auth/login",
  "POST /auth/login HTTP/1.1\r\nHost: x\r\nX-Name: ",
  "POST /auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{",
  "POST /todos HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{",
];

test("five hundred connections that send a byte at a time do not delay other clients", async () => {
  await using service = await startService();
  using stack = new DisposableStack();
  const slow = await Promise.all(
    Array.from({ length: CONNECTIONS }, async (_, index) => {
      const wire = stack.use(await openWire(service));
      wire.send(BEGINNINGS[index % BEGINNINGS.length] ?? "");
      return wire;
    }),
  );
  for (let round = 0; round < ROUNDS; round++) {
    for (const wire of slow) wire.send("x");
    const { email, password } = await service.register();
    expect(await service.login({ email, password })).toBeString();
    expect((await service.call("GET", "/todos")).status).toBe(200);
    if (round === 0) expect(slow.filter(({ isOpen }) => isOpen)).toHaveLength(CONNECTIONS);
  }
});
