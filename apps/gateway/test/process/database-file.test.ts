/** The file of the embedded database as an operator handles it: copied after a stop, replaced by a backup, deleted by mistake. */
import { expect, test } from "bun:test";
import { copyFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { inFullRun } from "@latchkey/testing/full-run";
import { PATIENT_HASHING, post, startProcess } from "@latchkey/testing/service-process";
import { querySqlite } from "@latchkey/testing/sqlite";

const GONE = {
  level: "warn",
  status: 503,
  err: { message: expect.stringContaining("(FILE_REPLACED): the file was deleted or replaced") },
};

async function start(folder: string) {
  const file = join(folder, "latchkey.db");
  const service = startProcess({ DATABASE_URL: `file:${file}`, ...PATIENT_HASHING });
  const url = await service.ready();
  return {
    ...service,
    file,
    addTodo: async (title: string) => (await post(`${url}/todos`, { title })).status,
    status: async (path: string) => (await fetch(url + path)).status,
    async stop() {
      service.signal("SIGTERM");
      expect((await service.ended()).code).toBe(0);
    },
  };
}

const titlesIn = async (file: string) =>
  (await querySqlite<{ title: string }>(`file:${file}`, "select title from todos order by id")).map(
    ({ title }) => title,
  );

inFullRun(test)(
  "after a clean stop, the file alone is the whole database, and a file that is copied over it replaces it",
  async () => {
    await using folder = await openFolder();
    const backup = join(folder.path, "backup.db");
    {
      await using service = await start(folder.path);
      expect(await service.addTodo("first")).toBe(201);
      await service.stop();
      expect(Bun.file(`${service.file}-wal`).size).toBe(0);
      await copyFile(service.file, backup);
    }
    expect(await titlesIn(backup)).toEqual(["first"]);
    {
      await using service = await start(folder.path);
      expect(await service.addTodo("second")).toBe(201);
      await service.stop();
      expect(await titlesIn(service.file)).toEqual(["first", "second"]);
      await copyFile(backup, service.file);
    }
    await using service = await start(folder.path);
    await service.stop();
    expect(await titlesIn(service.file)).toEqual(["first"]);
  },
);

test("while the file is deleted or replaced, the service is not ready, accepts no writes, and logs the reason", async () => {
  await using folder = await openFolder();
  await using service = await start(folder.path);
  const moved = join(folder.path, "moved.db");
  expect(await service.addTodo("kept")).toBe(201);
  await rename(service.file, moved);
  expect(await service.status("/readyz")).toBe(503);
  expect(await service.addTodo("lost")).toBe(503);
  expect(await service.status("/healthz")).toBe(200);
  await copyFile(moved, service.file);
  expect(await service.status("/readyz")).toBe(503);
  expect(await service.addTodo("lost")).toBe(503);
  while ((await service.status("/todos")) !== 503) await Bun.sleep(10);
  await rm(service.file);
  await rename(moved, service.file);
  expect(await service.status("/readyz")).toBe(200);
  expect(await service.addTodo("kept, too")).toBe(201);
  await service.stop();
  await service.line("stopped");
  for (const [method, route] of [
    ["GET", "/readyz"],
    ["POST", "/todos"],
    ["GET", "/todos"],
  ])
    expect(
      service.lines.find((line) => line.route === route && line.method === method && line.err),
    ).toMatchObject(GONE);
  expect(await titlesIn(service.file)).toEqual(["kept", "kept, too"]);
});

inFullRun(test)("the log of a crashed process is moved into the file by the next clean stop", async () => {
  await using folder = await openFolder();
  {
    await using crashed = await start(folder.path);
    expect(await crashed.addTodo("acknowledged")).toBe(201);
    crashed.signal("SIGKILL");
    await crashed.ended();
  }
  expect(Bun.file(join(folder.path, "latchkey.db-wal")).size).toBeGreaterThan(0);
  await using service = await start(folder.path);
  await service.stop();
  const copy = join(folder.path, "copy.db");
  await copyFile(service.file, copy);
  expect(await titlesIn(copy)).toEqual(["acknowledged"]);
});
