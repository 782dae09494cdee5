/** Another process holds the write lock of the embedded database: only writes wait for it, and clients take turns. */
import { expect, test } from "bun:test";
import { inFullRun } from "@latchkey/testing/full-run";
import { type Line, post, request } from "@latchkey/testing/service-process";
import { holdSqliteLock } from "@latchkey/testing/sqlite";
import { scrape } from "../support/exposition.ts";
import { newCredentials, startService } from "../support/service.ts";
import { startInFolder } from "../support/service-process.ts";

test.concurrent("a lock held longer than the busy timeout causes a 503 in the envelope within five seconds", async () => {
  await using service = await startService();
  const lock = await holdSqliteLock(service.config.database.url);
  const sentAt = performance.now();
  const refused = await post(`${service.url}/todos`, { title: "times out" });
  expect(refused.status).toBe(503);
  expect(await refused.json()).toEqual({
    detail: "The database is unavailable",
    code: "DATABASE_UNAVAILABLE",
  });
  expect(performance.now() - sentAt).toBeLessThan(5_000);
  await lock[Symbol.asyncDispose]();
  expect((await post(`${service.url}/todos`, { title: "again" })).status).toBe(201);
});

/** Waits until this many calls of the database are in progress. */
async function queriesInFlight(ready: Line, count: number): Promise<void> {
  while ((await scrape(ready)).value("database_queries_in_flight") !== count) await Bun.sleep(5);
}

inFullRun(test.concurrent)(
  "a registration waits for the earlier writes of its own client, but not for those of other clients",
  async () => {
    await using service = await startInFolder({ METRICS_PORT: "0", TRUST_PROXY: "1" });
    const ready = await service.line("ready");
    const send = (address: string, path: string, body: unknown) =>
      request(ready.url + path, { method: "POST", body, headers: { "x-forwarded-for": address } });
    const lock = await holdSqliteLock(service.folder.databaseUrl);
    let created = 0;
    const todos = Array.from({ length: 80 }, async (_, index) => {
      const { status } = await send(`192.0.2.${index % 4}`, "/todos", { title: "queued" });
      expect(status).toBe(201);
      created += 1;
    });
    await queriesInFlight(ready, todos.length);
    const registrations = ["192.0.2.0", "192.0.2.99"].map(async (address) => {
      const { status } = await send(address, "/auth/register", newCredentials());
      return { status, created };
    });
    await queriesInFlight(ready, todos.length + registrations.length);
    await lock[Symbol.asyncDispose]();
    const [own, other] = await Promise.all(registrations);
    expect([own?.status, other?.status]).toEqual([201, 201]);
    expect(own?.created).toBeGreaterThan(60);
    expect(other?.created).toBeLessThan(30);
    await Promise.all(todos);
  },
);
