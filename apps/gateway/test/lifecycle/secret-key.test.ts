/** The signing key that is generated next to an embedded database: once, complete, readable by its owner only. */
import { expect, test } from "bun:test";
import { chmod, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type SecretAlgorithm, weaknessOf } from "@latchkey/config";
import { openFolder } from "@latchkey/testing/folder";
import { SECRET_KEY } from "@latchkey/testing/keys";
import { startProcess } from "@latchkey/testing/service-process";
import { openSecretKey } from "../../src/lifecycle/secret-key.ts";

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

/** The key of a folder, and the warnings about it. */
function open(folder: string, algorithm: SecretAlgorithm = "HS256") {
  const warnings: string[] = [];
  const logger = { warn: (message: string) => void warnings.push(message) };
  return { key: openSecretKey({ folder, algorithm, logger }), warnings };
}

test("the first call generates a key that production accepts, in a file of mode 0600, which later calls return unchanged", async () => {
  await using folder = await openFolder();
  const path = join(folder.path, "auth-secret-key");
  const { key, warnings } = open(folder.path, "HS512");
  expect(key).toMatch(/^[\w-]{86}$/);
  expect(weaknessOf(key, "HS512")).toBeNull();
  expect(warnings).toEqual([]);
  const { mtimeMs, ino } = await stat(path);
  expect(await modeOf(path)).toBe(0o600);
  expect(open(folder.path)).toEqual({ key, warnings: [] });
  expect(await stat(path)).toMatchObject({ mtimeMs, ino });
  expect(await readFile(path, "utf8")).toBe(key);
  expect(await readdir(folder.path)).toEqual(["auth-secret-key"]);
});

test("a key that the operator stored is used without its line ending", async () => {
  await using folder = await openFolder();
  await writeFile(join(folder.path, "auth-secret-key"), `${SECRET_KEY}\n`, { mode: 0o600 });
  expect(open(folder.path)).toEqual({ key: SECRET_KEY, warnings: [] });
});

test("a key file that other users can access causes a warning and is left as it is", async () => {
  await using folder = await openFolder();
  open(folder.path);
  const path = join(folder.path, "auth-secret-key");
  for (const mode of [0o640, 0o604, 0o644]) {
    await chmod(path, mode);
    const { warnings } = open(folder.path);
    expect(warnings).toEqual([
      `other users have access to ${path} (mode ${mode.toString(8)}); run chmod 600`,
    ]);
    expect(await modeOf(path)).toBe(mode);
  }
});

test("a key that is too short for the algorithm causes a warning that does not contain it", async () => {
  await using folder = await openFolder();
  const stored = SECRET_KEY.slice(0, 40);
  await writeFile(join(folder.path, "auth-secret-key"), stored, { mode: 0o600 });
  expect(open(folder.path, "HS256").warnings).toEqual([]);
  const { key, warnings } = open(folder.path, "HS512");
  expect(key).toBe(stored);
  expect(warnings).toEqual([expect.stringContaining("is shorter than the 64 bytes that HS512 requires")]);
  expect(warnings.join()).not.toContain(stored);
});

test("the service logs the warnings about its key file when it starts", async () => {
  await using folder = await openFolder();
  await writeFile(join(folder.path, "auth-secret-key"), "Hunter2", { mode: 0o600 });
  await chmod(join(folder.path, "auth-secret-key"), 0o644);
  await using service = startProcess({ DATABASE_URL: folder.databaseUrl });
  await service.ready();
  expect(service.lines.slice(0, -1)).toEqual([
    expect.objectContaining({ level: "warn", msg: expect.stringContaining("is shorter than the 32 bytes") }),
    expect.objectContaining({ level: "warn", msg: expect.stringContaining("(mode 644)") }),
  ]);
});

test.each([
  ["a folder", "EISDIR", (path: string) => mkdir(path)],
  ["empty", "it is empty", (path: string) => writeFile(path, "\n")],
])("a key file that is %s is a configuration error of one line", async (_, reason, create) => {
  await using folder = await openFolder();
  const path = join(folder.path, "auth-secret-key");
  await create(path);
  const message = `AUTH_SECRET_KEY: is not set, and no key can be stored in ${path} (${reason})`;
  expect(() => open(folder.path)).toThrow(expect.objectContaining({ message, exitCode: 78 }));
});

test("five processes that start together use one key, and leave no other file behind", async () => {
  await using folder = await openFolder();
  const entry = join(import.meta.dir, "../support/secret-key-process.ts");
  const processes = Array.from({ length: 5 }, () => {
    const child = Bun.spawn([process.execPath, entry], { stdin: "pipe", stdout: "pipe" });
    return { child, output: child.stdout.getReader() };
  });
  const readLines = () =>
    Promise.all(processes.map(async ({ output }) => new TextDecoder().decode((await output.read()).value)));
  expect(new Set(await readLines())).toEqual(new Set(["waiting\n"]));
  // Each round is another chance for a race.
  for (let round = 0; round < 100; round += 1) {
    const path = join(folder.path, `data-${round}`);
    await mkdir(path);
    for (const { child } of processes) child.stdin.write(`${path}\n`);
    for (const { child } of processes) void child.stdin.flush();
    const keys = new Set(await readLines());
    expect(keys).toEqual(new Set([`${await readFile(join(path, "auth-secret-key"), "utf8")}\n`]));
    expect(await readdir(path)).toEqual(["auth-secret-key"]);
  }
  for (const { child } of processes) child.stdin.end();
  expect(await Promise.all(processes.map(({ child }) => child.exited))).toEqual(Array(5).fill(0));
});
