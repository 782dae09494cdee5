/** Another process holds the write lock of the embedded database: only writes wait for it. */
import { expect, test } from "bun:test";
import { openFolder } from "@latchkey/testing/folder";
import { post, startProcess } from "@latchkey/testing/service-process";
import { spawnSqlite } from "@latchkey/testing/sqlite";

/** The duration of the slowest of consecutive probes, in milliseconds. */
async function slowestProbe(url: string, durationMs: number): Promise<number> {
  const end = performance.now() + durationMs;
  let slowest = 0;
  while (performance.now() < end) {
    const sentAt = performance.now();
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    slowest = Math.max(slowest, performance.now() - sentAt);
    await Bun.sleep(5);
  }
  return slowest;
}

test("while the write lock is held for two seconds, liveness takes less than 100 ms, reads succeed, and writes succeed afterwards", async () => {
  await using folder = await openFolder();
  await using service = startProcess({ DATABASE_URL: folder.databaseUrl });
  const url = await service.ready();
  await using holder = spawnSqlite("hold", folder.databaseUrl);
  await holder.stdout.getReader().read();
  let settled = 0;
  const writes = Array.from({ length: 10 }, async () => {
    const { status } = await post(`${url}/todos`, { title: "waits" });
    settled += 1;
    return status;
  });
  expect(await slowestProbe(url, 2_000)).toBeLessThan(100);
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  expect(await (await fetch(`${url}/todos`)).json()).toEqual({ items: [], next_cursor: null });
  expect(settled).toBe(0);
  await holder.stdin.end();
  await holder.exited;
  expect(await Promise.all(writes)).toEqual(writes.map(() => 201));
});

test("a lock held longer than the busy timeout causes a 503 in the envelope within five seconds", async () => {
  await using folder = await openFolder();
  await using service = startProcess({ DATABASE_URL: folder.databaseUrl });
  const url = await service.ready();
  await using holder = spawnSqlite("hold", folder.databaseUrl);
  await holder.stdout.getReader().read();
  const sentAt = performance.now();
  const refused = await post(`${url}/todos`, { title: "times out" });
  expect(refused.status).toBe(503);
  expect(await refused.json()).toEqual({
    detail: "The database is unavailable",
    code: "DATABASE_UNAVAILABLE",
  });
  expect(performance.now() - sentAt).toBeLessThan(5_000);
  await holder.stdin.end();
  await holder.exited;
  expect((await post(`${url}/todos`, { title: "again" })).status).toBe(201);
});
