/** The programs of docs/events, as they are there, lose nothing: neither while they are stopped nor after an expired cursor. */
import { expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { inFullRun } from "@latchkey/testing/full-run";
import { ROOT } from "@latchkey/testing/repository";
import { querySqlite } from "@latchkey/testing/sqlite";
import { KEY, openAdministration } from "../../support/administration.ts";
import { startCuttingProxy } from "../../support/cutting-proxy.ts";
import { type Service, startService } from "../../support/service.ts";

const READ_KEY = "r".repeat(32);
const EVENT_KEY = "e".repeat(32);
const ENV = {
  ADMIN_PORT: "0",
  ADMIN_API_KEYS: `shop:${KEY}`,
  ADMIN_READ_KEYS: `mirror:${READ_KEY}`,
  ADMIN_EVENT_KEYS: `forward:${EVENT_KEY}`,
};

function runProgram(command: readonly string[], folder: string, env: Readonly<Record<string, string>>) {
  const child = Bun.spawn([...command], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...env },
    stdout: "ignore",
    stderr: "ignore",
  });
  return {
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

/** A service that records events, and a folder with a copy of one of the programs of the documents. */
async function startRecording(program: string) {
  const resources = new AsyncDisposableStack();
  const service = resources.use(await startService({ env: ENV }));
  const { events } = service.database;
  await events.enable(30);
  const admin = resources.use(await openAdministration(service));
  const folder = resources.use(await openFolder());
  await copyFile(join(ROOT, "docs/events", program), join(folder.path, program));
  return { service, events, admin, folder, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

/** Changes users at random, by every way that a user and an operator have. */
async function change(
  service: Service,
  admin: Awaited<ReturnType<typeof openAdministration>>,
  count: number,
) {
  const ids: number[] = [];
  for (let number = 0; number < count; number++) {
    const id = ids[Math.floor(Math.random() * ids.length)];
    const way = Math.floor(Math.random() * 4);
    if (way === 0 || id === undefined) ids.push((await service.register()).user.id);
    else if (way === 1) await admin.call("DELETE", `/admin/users/${id}`);
    else if (way === 2)
      await service.sql(`update users set email = '${crypto.randomUUID()}@example.org' where id = ${id}`);
    else await admin.call("PATCH", `/admin/users/${id}`, { body: { is_active: number % 2 === 0 } });
  }
}

inFullRun(test.skipIf(Bun.which("python3") === null))(
  "the mirror equals the database after changes beside its copy, restarts, a cut response and an expired cursor",
  async () => {
    await using recording = await startRecording("mirror.py");
    const { service, events, admin, folder } = recording;
    let answered = 0;
    await using proxy = startCuttingProxy(admin.url, () => ++answered === 3);
    const env = { LATCHKEY_ADMIN_URL: proxy.url, LATCHKEY_READ_KEY: READ_KEY };
    const run = () => runProgram(["python3", "-B", "mirror.py"], folder.path, env);
    const read = async () =>
      JSON.stringify(await service.sql("select id, email, is_active from users order by id"));
    const untilEqual = async () => {
      for (;;) {
        const [stored, copied] = await Promise.all([
          read(),
          querySqlite(
            `file:${folder.path}/mirror.db`,
            "select id, email, is_active from users order by id",
          ).catch(() => null),
        ]);
        if (JSON.stringify(copied) === stored) return;
        await Bun.sleep(20);
      }
    };
    await change(service, admin, 100);
    for (const expires of [false, true, false]) {
      await using mirror = run();
      await change(service, admin, 50);
      await untilEqual();
      await mirror[Symbol.asyncDispose]();
      await change(service, admin, 20);
      if (!expires) continue;
      // A new epoch. What happened meanwhile is in no event.
      await events.disable();
      await change(service, admin, 20);
      await events.enable(30);
    }
    await using _ = run();
    await untilEqual();
    const [{ count } = { count: 0 }] = await service.sql<{ count: number }>(
      "select count(*) as count from users",
    );
    expect(count).toBeGreaterThan(20);
  },
);

inFullRun(test.skipIf(Bun.which("node") === null))(
  "the forwarder delivers each event in order with a signature of Standard Webhooks, and repeats what was not accepted",
  async () => {
    await using recording = await startRecording("forward.mjs");
    const { service, events, admin, folder } = recording;
    const secret = Buffer.from("0123456789abcdef01234567");
    const received: { id: string; type: string; user: number | undefined }[] = [];
    let refused = 0;
    await using receiver = Bun.serve({
      port: 0,
      async fetch(request) {
        const [id, timestamp, signature] = ["id", "timestamp", "signature"].map((name) =>
          request.headers.get(`webhook-${name}`),
        );
        const body = await request.text();
        const mac = createHmac("sha256", secret).update(`${id}.${timestamp}.${body}`).digest("base64");
        expect(signature).toBe(`v1,${mac}`);
        expect(Math.abs(Number(timestamp) - Date.now() / 1000)).toBeLessThan(300);
        refused += 1;
        if (refused === 2) return new Response(null, { status: 500 });
        const { type, data } = JSON.parse(body);
        // As a receiver does: after a crash, the forwarder sends some events again, with the same ids.
        if (!received.some((event) => event.id === id))
          received.push({ id: String(id), type, user: data.user_id });
        return new Response(null, { status: 204 });
      },
    });
    const env = {
      LATCHKEY_ADMIN_URL: admin.url,
      LATCHKEY_EVENT_KEY: EVENT_KEY,
      WEBHOOK_URL: receiver.url.href,
      WEBHOOK_SECRET: `whsec_${secret.toString("base64")}`,
    };
    const run = () => runProgram(["node", "forward.mjs"], folder.path, env);
    const untilReceived = async (count: number) => {
      while (received.length < count) await Bun.sleep(5);
    };
    const first = await service.register();
    {
      await using _ = run();
      await service.sql(`update users set is_active = false where id = ${first.user.id}`);
      await untilReceived(2);
      while (!(await Bun.file(join(folder.path, "cursor")).exists())) await Bun.sleep(5);
    }
    const second = await service.register();
    await using _ = run();
    await untilReceived(3);
    await events.disable();
    await events.enable(30);
    const third = await service.register();
    await untilReceived(5);
    expect(received.map(({ type, user }) => [type, user])).toEqual([
      ["user.created", first.user.id],
      ["user.updated", first.user.id],
      ["user.created", second.user.id],
      ["events.missed", undefined],
      ["user.created", third.user.id],
    ]);
  },
);
