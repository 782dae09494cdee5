/** The signing key that is made beside an embedded database: once, whole, for its owner alone. */
import { expect, test } from "bun:test";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readOrCreateSecretKey, weaknessOf } from "../../src/config/secret-key.ts";

async function openFolder() {
  const path = await mkdtemp(join(tmpdir(), "latchkey-key-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

test("the first call makes a key that production would take, in a file of mode 0600", async () => {
  await using folder = await openFolder();
  const path = join(folder.path, "data", "auth-secret-key");
  const key = readOrCreateSecretKey(path);
  expect(key).toMatch(/^[\w-]{86}$/);
  for (const algorithm of ["HS256", "HS384", "HS512"] as const) expect(weaknessOf(key, algorithm)).toBeNull();
  expect(await modeOf(path)).toBe(0o600);
  expect(await modeOf(join(folder.path, "data"))).toBe(0o700);
  expect(await readFile(path, "utf8")).toBe(key);
  expect(await readdir(join(folder.path, "data"))).toEqual(["auth-secret-key"]);
});

test("every later call reads it, and leaves the file and its folder as they are", async () => {
  await using folder = await openFolder();
  const path = join(folder.path, "auth-secret-key");
  const key = readOrCreateSecretKey(path);
  await chmod(folder.path, 0o755);
  await chmod(path, 0o640);
  const { mtimeMs, ino } = await stat(path);
  expect(readOrCreateSecretKey(path)).toBe(key);
  expect(await stat(path)).toMatchObject({ mtimeMs, ino });
  expect([await modeOf(folder.path), await modeOf(path)]).toEqual([0o755, 0o640]);
});

test("two folders get two keys", async () => {
  await using folder = await openFolder();
  const keys = ["one", "two"].map((name) =>
    readOrCreateSecretKey(join(folder.path, name, "auth-secret-key")),
  );
  expect(keys[0]).not.toBe(keys[1] ?? "");
});

test("a key that an operator put there is used, without a line end", async () => {
  await using folder = await openFolder();
  const path = join(folder.path, "auth-secret-key");
  await writeFile(path, "put here by hand, and long enough\n");
  expect(readOrCreateSecretKey(path)).toBe("put here by hand, and long enough");
});

test("an empty file or a folder in its place is an error and not an empty key", async () => {
  await using folder = await openFolder();
  await writeFile(join(folder.path, "empty"), "");
  await mkdir(join(folder.path, "folder"));
  expect(() => readOrCreateSecretKey(join(folder.path, "empty"))).toThrow();
  expect(() => readOrCreateSecretKey(join(folder.path, "folder"))).toThrow();
});

test("of five processes that start at once all use one key, and nothing else is left in the folder", async () => {
  await using folder = await openFolder();
  const entry = join(import.meta.dir, "../support/secret-key-process.ts");
  const processes = Array.from({ length: 5 }, () => {
    const child = Bun.spawn([process.execPath, entry], { stdin: "pipe", stdout: "pipe" });
    return { child, output: child.stdout.getReader() };
  });
  const linesOf = () =>
    Promise.all(processes.map(async ({ output }) => new TextDecoder().decode((await output.read()).value)));
  expect(new Set(await linesOf())).toEqual(new Set(["waiting\n"]));
  // Each round is another chance to meet.
  for (let round = 0; round < 100; round += 1) {
    const path = join(folder.path, `data-${round}`, "auth-secret-key");
    for (const { child } of processes) child.stdin.write(`${path}\n`);
    for (const { child } of processes) void child.stdin.flush();
    const keys = new Set(await linesOf());
    expect(keys).toEqual(new Set([`${await readFile(path, "utf8")}\n`]));
    expect(await readdir(join(folder.path, `data-${round}`))).toEqual(["auth-secret-key"]);
  }
  for (const { child } of processes) child.stdin.end();
  expect(await Promise.all(processes.map(({ child }) => child.exited))).toEqual(Array(5).fill(0));
});

test("a place where no key can be kept ends the start with 78 and one line", async () => {
  await using folder = await openFolder();
  await writeFile(join(folder.path, "file"), "");
  await mkdir(join(folder.path, "full", "auth-secret-key"), { recursive: true });
  await mkdir(join(folder.path, "empty"));
  await writeFile(join(folder.path, "empty", "auth-secret-key"), "\n");
  const entry = join(import.meta.dir, "../../src/main.ts");
  for (const [place, reason] of [
    ["file/data", "ENOTDIR"],
    ["full", "EISDIR"],
    ["empty", "it is empty"],
  ] as const) {
    const env = {
      ...process.env,
      NODE_ENV: "test",
      PORT: "0",
      DATABASE_URL: `file:${folder.path}/${place}/x.db`,
    };
    const child = Bun.spawn([process.execPath, entry], { env, stdout: "ignore", stderr: "pipe" });
    const line = await new Response(child.stderr).text();
    expect(line).toMatch(
      new RegExp(`^AUTH_SECRET_KEY: is not set, and no key can be kept in \\S+ \\(${reason}\\)\n$`),
    );
    expect(await child.exited).toBe(78);
  }
});
