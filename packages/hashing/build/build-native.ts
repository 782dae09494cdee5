/**
 * Builds the C kernels as the addon that the service loads. A file gets its final name only when it is complete, because
 * any number of builds can run at the same time.
 */
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import {
  addonFilePrefix,
  BUILD_DIRECTORY,
  findAddonFile,
  reasonFile,
  SOURCE_DIRECTORY,
} from "../src/kernel/addon-file.ts";
import { isDamaged } from "../src/kernel/check-kernels.ts";
import { type Compiler, type Environment, findCompiler } from "./compiler.ts";

export interface BuildOptions {
  /** The compiler's environment variables; `CC` and `PATH` select the compiler. */
  readonly environment: Environment;
  /** The output folder. @default native/build */
  readonly directory?: string;
  /** Preprocessor macros to define, for tests. @default none */
  readonly defines?: readonly string[];
}

type Settings = Required<BuildOptions>;
export type BuildResult =
  /** `found`: the file already existed and is not damaged. */
  | { readonly status: "built" | "found"; readonly path: string }
  | { readonly status: "failed"; readonly reason: string; readonly output: string };

const COMPILE_FLAGS = ["-O3", "-std=c11", "-pthread", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra"];
const LINK_FLAGS = process.platform === "darwin" ? ["-bundle", "-undefined", "dynamic_lookup"] : ["-shared"];

/** Builds the addon unless its file already exists and can be used. If this machine cannot build the addon, the result contains the reason. */
export async function buildNative(options: BuildOptions): Promise<BuildResult> {
  const { directory = BUILD_DIRECTORY } = options;
  try {
    return await build({ defines: [], ...options, directory });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (!/^(EACCES|EPERM|EROFS)$/.test(code)) throw error;
    return { status: "failed", reason: `${directory} is not writable (${code})`, output: "" };
  }
}

async function build(settings: Settings): Promise<BuildResult> {
  const { environment, directory, defines } = settings;
  fs.mkdirSync(directory, { recursive: true });
  const fail = (reason: string, output = ""): BuildResult => {
    const file = reasonFile(directory);
    fs.writeFileSync(`${file}.${process.pid}`, `${reason}\n`);
    fs.renameSync(`${file}.${process.pid}`, file);
    return { status: "failed", reason, output };
  };

  const newest = findAddonFile(directory);
  const compiler = findCompiler(environment);
  if ("reason" in compiler)
    return "path" in newest ? { status: "found", path: newest.path } : fail(compiler.reason);
  const hash = createHash("sha256").update(JSON.stringify([compiler.identity, COMPILE_FLAGS, defines]));
  const path = join(directory, `${addonFilePrefix()}-${hash.digest("hex").slice(0, 8)}.node`);
  if (fs.existsSync(path) && !isDamaged(path)) {
    // The service loads the newest file: make the requested file the newest. If it already is, its time stays unchanged,
    // because only the file's owner can set the time.
    if (!("path" in newest && newest.path === path)) fs.utimesSync(path, new Date(), new Date());
    return { status: "found", path };
  }
  const errors = await compile(path, compiler, settings);
  if (errors !== "") return fail("the C compiler failed", errors);
  fs.rmSync(reasonFile(directory), { force: true });
  return { status: "built", path };
}

/** Returns the compiler's error messages; an empty text on success. */
async function compile(path: string, { command }: Compiler, { environment, defines }: Settings) {
  const directory = fs.mkdtempSync(`${path}.`);
  const run = async (args: string[]): Promise<string> => {
    const cmd = [...command, ...args];
    const child = Bun.spawn({ cmd, env: environment, stdout: "ignore", stderr: "pipe" });
    const errors = await new Response(child.stderr).text();
    return (await child.exited) === 0 ? "" : errors || `${cmd.join(" ")}: code ${child.exitCode}\n`;
  };
  try {
    const require = createRequire(import.meta.url);
    const { include_dir: headers }: { include_dir: string } = require("node-api-headers");
    const flags = [...COMPILE_FLAGS, `-I${headers}`, ...defines.map((name) => `-D${name}`)];
    const sources = [...listSources(), { file: "addon.c", flags: [] }];
    const units = sources.map(({ file, flags: ownFlags }) => {
      const object = join(directory, `${basename(file)}.o`);
      return { object, args: [...flags, ...ownFlags, "-c", join(SOURCE_DIRECTORY, file), "-o", object] };
    });
    const errors = (await Promise.all(units.map(({ args }) => run(args)))).join("");
    if (errors !== "") return errors;
    const output = join(directory, "output");
    const linkErrors = await run([...LINK_FLAGS, ...units.map(({ object }) => object), "-o", output]);
    if (linkErrors !== "") return linkErrors;
    fs.chmodSync(output, 0o755);
    fs.renameSync(output, path);
    return "";
  } finally {
    fs.rmSync(directory, { recursive: true, force: true });
  }
}

/** Reads the sources for this processor from `sources.txt`: each file with its flags in addition to `COMPILE_FLAGS`. */
function listSources(): { file: string; flags: string[] }[] {
  const lines = fs.readFileSync(join(SOURCE_DIRECTORY, "sources.txt"), "utf8").split("\n");
  return lines.flatMap((line) => {
    const [file, processor, ...flags] = line.split(" ").filter(Boolean);
    if (!file || file.startsWith("#") || (processor !== "any" && processor !== process.arch)) return [];
    return [{ file, flags }];
  });
}
