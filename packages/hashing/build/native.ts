/**
 * Builds the C kernels: as the addon that the service loads, or as a bare program. A file appears under its final name
 * only when it is whole, so any number of builds may run at once.
 */
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import {
  BUILD_DIRECTORY,
  findNativeFile,
  nativeFilePrefix,
  reasonFileName,
  SOURCE_DIRECTORY,
} from "../src/kernel/native-file.ts";
import { type Compiler, type Environment, findCompiler } from "./compiler.ts";

export interface BuildOptions {
  /** The compiler's environment; `CC` and `PATH` in it choose the compiler. */
  readonly environment: Environment;
  /** Where the file goes. @default native/build */
  readonly directory?: string;
  /** What to build: the addon, or one of the programs beside it. @default "addon" */
  readonly target?: "addon" | "bench" | "selftest";
  /** Preprocessor names to define, for tests. @default none */
  readonly defines?: readonly string[];
}

export type BuildResult =
  | { readonly built: "now" | "before"; readonly path: string }
  | { readonly built: "not"; readonly reason: string; readonly output: string };

const COMMON_FLAGS = ["-O3", "-std=c11", "-pthread", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra"];

/** Builds unless the same file is already there. Never throws for what the machine lacks: it says why instead. */
export async function buildNative(options: BuildOptions): Promise<BuildResult> {
  const { directory = BUILD_DIRECTORY, target = "addon" } = options;
  const prefix = nativeFilePrefix();
  mkdirSync(directory, { recursive: true });
  const compiler = findCompiler(options.environment);
  if ("reason" in compiler) {
    const earlier = target === "addon" ? findNativeFile(directory) : compiler;
    if ("path" in earlier) return { built: "before", path: earlier.path };
    return refuse(options, { reason: compiler.reason, output: "" });
  }
  const path = join(directory, fileName(prefix, compiler, options));
  if (existsSync(path)) {
    // The loader takes the newest: what was asked for last.
    utimesSync(path, new Date(), new Date());
    return { built: "before", path };
  }
  const failure = await compileInto(path, compiler, options);
  if (failure !== undefined) return refuse(options, { reason: "the C compiler failed", output: failure });
  if (target === "addon") rmSync(join(directory, reasonFileName(prefix)), { force: true });
  return { built: "now", path };
}

function refuse(options: BuildOptions, refusal: { reason: string; output: string }): BuildResult {
  if ((options.target ?? "addon") === "addon") {
    const file = join(options.directory ?? BUILD_DIRECTORY, reasonFileName(nativeFilePrefix()));
    writeFileSync(`${file}.${process.pid}`, `${refusal.reason}\n`);
    renameSync(`${file}.${process.pid}`, file);
  }
  return { built: "not", ...refusal };
}

function fileName(
  prefix: string,
  compiler: Compiler,
  { target = "addon", defines = [] }: BuildOptions,
): string {
  const hash = createHash("sha256").update(JSON.stringify([compiler.identity, COMMON_FLAGS, defines]));
  const id = hash.digest("hex").slice(0, 8);
  return target === "addon" ? `${prefix}-${id}.node` : `${prefix}-${id}-${target}`;
}

/** Returns what the compiler said if it failed. */
async function compileInto(
  path: string,
  compiler: Compiler,
  options: BuildOptions,
): Promise<string | undefined> {
  const { target = "addon", environment } = options;
  const aside = mkdtempSync(`${path}.`);
  const run = async (cmd: string[]) => {
    const child = Bun.spawn({
      cmd: [...compiler.command, ...cmd],
      env: environment,
      stdout: "ignore",
      stderr: "pipe",
    });
    const complaint = await new Response(child.stderr).text();
    return (await child.exited) === 0 ? [] : [complaint || `${cmd.join(" ")}: code ${child.exitCode}`];
  };
  try {
    const sources = [
      ...listSources(),
      { file: target === "addon" ? "door.c" : `${target}.c`, flags: includes(target) },
    ];
    const objects = sources.map(({ file }) => join(aside, `${file}.o`));
    const defines = (options.defines ?? []).map((name) => `-D${name}`);
    const failures = await Promise.all(
      sources.map(({ file, flags }, i) =>
        run([
          ...COMMON_FLAGS,
          ...flags,
          ...defines,
          "-c",
          join(SOURCE_DIRECTORY, file),
          "-o",
          objects[i] ?? "",
        ]),
      ),
    );
    const output = join(aside, "output");
    if (failures.flat().length === 0)
      failures.push(await run([...linkFlags(target), ...objects, "-o", output]));
    if (failures.flat().length > 0) return failures.flat().join("\n");
    chmodSync(output, 0o755);
    renameSync(output, path);
    return undefined;
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}

/** The lines of `sources.txt` that are for this processor. */
function listSources(): { file: string; flags: string[] }[] {
  const lines = readFileSync(join(SOURCE_DIRECTORY, "sources.txt"), "utf8").split("\n");
  return lines.flatMap((line) => {
    const [file, processor, ...flags] = line.split(" ").filter(Boolean);
    if (!file || file.startsWith("#") || (processor !== "any" && processor !== process.arch)) return [];
    return [{ file, flags }];
  });
}

function includes(target: string): string[] {
  if (target !== "addon") return [];
  const { include_dir }: { include_dir: string } = createRequire(import.meta.url)("node-api-headers");
  return [`-I${include_dir}`];
}

function linkFlags(target: string): string[] {
  if (target !== "addon") return ["-pthread"];
  return process.platform === "darwin" ? ["-bundle", "-undefined", "dynamic_lookup"] : ["-shared"];
}
