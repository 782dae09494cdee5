/** The process at its end: asked to stop it finishes what it accepted; killed it loses nothing it acknowledged. */
import { expect, test } from "bun:test";
import { connect } from "node:net";
import { openFolder } from "@latchkey/testing/folder";
import { post, startProcess } from "@latchkey/testing/service-process";

const PERSON = { email: "ada@example.org", username: "ada", password: "correct horse battery" };
/** One derivation at a time, so that logins sent together wait for each other. */
const UNLIMITED = { RATE_LIMIT_ENABLED: "false", HASH_KERNEL: "portable" };

test("asked to stop while logins wait for their turn, it answers each with its token and exits with 0", async () => {
  await using folder = await openFolder();
  await using service = startProcess({ ...UNLIMITED, DATABASE_URL: folder.databaseUrl });
  const url = await service.ready();
  expect((await post(`${url}/auth/register`, PERSON)).status).toBe(201);
  const logins = Array.from({ length: 6 }, () => post(`${url}/auth/login`, PERSON));
  // The first answer shows that the others are in the queue, where they wait five derivations more.
  await Promise.race(logins);
  service.signal("SIGTERM");
  await service.line("stopping");
  const answers = await Promise.all(logins);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
  for (const answer of answers) expect(await answer.json()).toMatchObject({ token_type: "bearer" });
  expect(await service.ended()).toEqual({ code: 0, stderr: "" });
  expect(service.lines.at(-1)).toMatchObject({ msg: "stopped" });
});

test("an idle connection does not keep it from stopping", async () => {
  await using folder = await openFolder();
  await using service = startProcess({ DATABASE_URL: folder.databaseUrl, SHUTDOWN_GRACE_SECONDS: "60" });
  const url = new URL(await service.ready());
  const socket = connect({ host: url.hostname, port: Number(url.port) });
  socket.write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
  await new Promise((resolve) => socket.once("data", resolve));
  service.signal("SIGTERM");
  expect((await service.ended()).code).toBe(0);
  socket.destroy();
});

test("during SHUTDOWN_DELAY_SECONDS it is unready, alive and serving", async () => {
  await using folder = await openFolder();
  await using service = startProcess({ DATABASE_URL: folder.databaseUrl, SHUTDOWN_DELAY_SECONDS: "3600" });
  const url = await service.ready();
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  service.signal("SIGTERM");
  await service.line("stopping");
  const unready = await fetch(`${url}/readyz`);
  expect(unready.status).toBe(503);
  expect(await unready.json()).toEqual({ status: "unavailable" });
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  expect((await post(`${url}/todos`, { title: "late" })).status).toBe(201);
});

test("a second signal at once is the same one; one more than half a second later ends it at once", async () => {
  await using folder = await openFolder();
  await using service = startProcess({ DATABASE_URL: folder.databaseUrl, SHUTDOWN_DELAY_SECONDS: "3600" });
  const url = await service.ready();
  service.signal("SIGTERM");
  service.signal("SIGINT");
  await service.line("stopping");
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  // Real time, since the half second is the process's own.
  await Bun.sleep(600);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  service.signal("SIGTERM");
  expect((await service.ended()).code).toBe(143);
});

test("killed while it writes, it has lost no write that it acknowledged", async () => {
  await using folder = await openFolder();
  const env = { ...UNLIMITED, DATABASE_URL: folder.databaseUrl, LOG_LEVEL: "info" };
  const acknowledged: number[] = [];
  {
    await using service = startProcess(env);
    const url = await service.ready();
    const write = async (): Promise<void> => {
      for (;;) {
        const answer = await post(`${url}/todos`, { title: "durable" }).catch(() => null);
        const todo = await answer?.json().catch(() => null);
        if (!todo) return;
        acknowledged.push((todo as { id: number }).id);
        if (acknowledged.length === 200) service.signal("SIGKILL");
      }
    };
    await Promise.all([write(), write(), write(), write()]);
    await service.ended();
  }
  await using service = startProcess(env);
  const url = await service.ready();
  expect(acknowledged.length).toBeGreaterThanOrEqual(200);
  for (const id of acknowledged) expect((await fetch(`${url}/todos/${id}`)).status).toBe(200);
});
