/** The port opens only after migrations: the first request that is ever answered finds the schema. */
import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawnSqlite } from "@latchkey/testing/sqlite";

const HELD_MS = 1000;

/** A port that was free a moment ago. */
function freePort(): number {
  using server = Bun.serve({ port: 0, fetch: () => new Response() });
  return server.port ?? 0;
}

/** null while nobody listens. */
const ask = (url: string) => fetch(url).catch(() => null);

test("while another process holds the lock that migrations need, the port is closed; then it serves", async () => {
  const folder = await mkdtemp(join(tmpdir(), "latchkey-"));
  const url = `file:${join(folder, "x.db")}`;
  const holder = spawnSqlite("hold", url);
  await holder.stdout.getReader().read();
  const port = freePort();
  const env = { NODE_ENV: "test", PORT: String(port), DATABASE_URL: url, LOG_LEVEL: "silent" };
  const service = Bun.spawn([process.execPath, join(import.meta.dir, "../../src/main.ts")], { env });
  try {
    const heldUntil = performance.now() + HELD_MS;
    while (performance.now() < heldUntil) expect(await ask(`http://127.0.0.1:${port}/healthz`)).toBeNull();
    holder.stdin.end();
    let answer: Response | null = null;
    while (answer === null && service.exitCode === null) answer = await ask(`http://127.0.0.1:${port}/todos`);
    expect(answer?.status).toBe(200);
  } finally {
    holder.kill();
    service.kill();
    await Promise.all([holder.exited, service.exited]);
    await rm(folder, { recursive: true, force: true });
  }
});
