/** The package as its users get it: packed, and installed from the tarball into an empty project. */
import { cp, symlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { ROOT } from "@latchkey/testing/repository";
import { runProcess } from "@latchkey/testing/run-process";

const PACKAGE = "packages/client";
const NOT_COPIED = ["node_modules", "dist", "test"];

export type InstalledPackage = Awaited<ReturnType<typeof installPackage>>;

/** Runs a program to its end, with `variables` in its environment, and returns its standard output. */
export async function run(
  command: string[],
  cwd: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { code, stdout, stderr } = await runProcess(command, { cwd, env: { ...process.env, ...variables } });
  if (code === 0) return stdout;
  throw new Error(`${command.join(" ")} failed:\n${stdout}${stderr}`);
}

/**
 * Builds and packs a copy of the package, because test files that run at the same time would build into one folder, and installs it
 * in an empty project without a registry. `files` are the paths in the tarball, without the leading `package/`; `tarball` is its name in
 * `project`.
 */
export async function installPackage() {
  const folder = await openFolder();
  const { path: project } = folder;
  await using copy = await openFolder();
  const copied = join(copy.path, PACKAGE);
  await cp(join(ROOT, PACKAGE), copied, {
    recursive: true,
    filter: (path) => !NOT_COPIED.includes(basename(path)),
  });
  for (const name of ["LICENSE", "tsconfig.json"]) await cp(join(ROOT, name), join(copy.path, name));
  await symlink(join(ROOT, PACKAGE, "node_modules"), join(copied, "node_modules"));
  await run(["npm", "pack", "--pack-destination", project], copied);
  const [tarball = ""] = [...new Bun.Glob("*.tgz").scanSync(project)];
  const listed = await run(["tar", "tzf", tarball], project);
  await Bun.write(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }));
  await run(["npm", "install", "--offline", "--no-audit", "--no-fund", `./${tarball}`], project);
  const files = listed
    .trim()
    .split("\n")
    .map((path) => path.replace(/^package\//, ""))
    .sort();
  return { project, files, tarball, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}
