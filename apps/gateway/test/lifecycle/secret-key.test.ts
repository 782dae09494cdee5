/** The signing key that is generated next to an embedded database: once, complete, readable by its owner only. */
import { expect, test } from "bun:test";
import { chmod, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { SecretAlgorithm } from "@latchkey/config";
import { openFolder } from "@latchkey/testing/folder";
import { inFullRun } from "@latchkey/testing/full-run";
import { SECRET_KEY } from "@latchkey/testing/keys";
import { canReplaceHosts } from "@latchkey/testing/process-1";
import { runProcess } from "@latchkey/testing/run-process";
import { startProcess } from "@latchkey/testing/service-process";
import { openSecretKey } from "../../src/lifecycle/secret-key.ts";

const SHORT_KEY = SECRET_KEY.slice(0, 40);

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
  expect(warnings).toEqual([]);
  const { mtimeMs, ino } = await stat(path);
  expect(await modeOf(path)).toBe(0o600);
  expect(open(folder.path)).toEqual({ key, warnings: [] });
  expect(await stat(path)).toMatchObject({ mtimeMs, ino });
  expect(await readFile(path, "utf8")).toBe(key);
  expect(await readdir(folder.path)).toEqual(["auth-secret-key"]);
});

test.each([
  ["with a line ending", `${SECRET_KEY}\n`, 0o600, "HS256", null],
  ["that is long enough for HS256", SHORT_KEY, 0o600, "HS256", null],
  ["that is too short for HS512", SHORT_KEY, 0o600, "HS512", "is shorter than the 64 bytes"],
  ["that its group can read", SECRET_KEY, 0o640, "HS256", "(mode 640); run chmod 600"],
  ["that others can read", SECRET_KEY, 0o604, "HS256", "(mode 604); run chmod 600"],
] as const)(
  "a stored key %s is used and left as it is, and only one that is weak or not private causes a warning",
  async (_name, stored, mode, algorithm, warning) => {
    await using folder = await openFolder();
    const path = join(folder.path, "auth-secret-key");
    await writeFile(path, stored);
    await chmod(path, mode);
    const { key, warnings } = open(folder.path, algorithm);
    expect(key).toBe(stored.trimEnd());
    expect(warnings).toEqual(warning === null ? [] : [expect.stringContaining(warning)]);
    expect(warnings.join()).not.toContain(key);
    expect([await readFile(path, "utf8"), await modeOf(path)]).toEqual([stored, mode]);
  },
);

test("the service logs the warnings about its key file when it starts", async () => {
  await using folder = await openFolder();
  await writeFile(join(folder.path, "auth-secret-key"), "Hunter2", { mode: 0o600 });
  await chmod(join(folder.path, "auth-secret-key"), 0o644);
  await using service = startProcess({ DATABASE_URL: folder.databaseUrl, HASH_KERNEL: "portable" });
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

const canMount = canReplaceHosts || Boolean(process.env.CI);
test.skipIf(!canMount)("on a full disk, no part of a key is left", async () => {
  await using folder = await openFolder();
  const entry = join(import.meta.dir, "../support/secret-key-process.ts");
  const script = `mount -t tmpfs -o size=4k tmpfs "$0" && head -c 4096 /dev/zero > "$0/other"
    echo "$0" | "$1" "$2" >/dev/null; ls -A "$0"`;
  const command = ["unshare", "--mount", "sh", "-c", script, folder.path, process.execPath, entry];
  const { stdout, stderr } = await runProcess(command);
  expect(stderr).toContain("no key can be stored in");
  expect(stderr).toContain("(ENOSPC)");
  expect(stdout).toBe("other\n");
});

inFullRun(test)(
  "five processes that start together use one key, and leave no other file behind",
  async () => {
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
  },
);
