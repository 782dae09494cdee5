/** The package as its users get it: packed, and installed from the tarball into an empty project. */
import { join, resolve } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { runProcess } from "@latchkey/testing/run-process";

const PACKAGE = resolve(import.meta.dir, "../..");

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
 * Builds and packs the package, and installs it in an empty project without a registry. `files` are the paths in the tarball,
 * without the leading `package/`; `tarball` is its name in `project`.
 */
export async function installPackage() {
  const folder = await openFolder();
  const { path: project } = folder;
  await run(["npm", "pack", "--pack-destination", project], PACKAGE);
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
