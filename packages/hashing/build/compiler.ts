/** Finds and identifies the machine's C compiler, without opening a dialog or downloading anything. */

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Compiler {
  /** The command with its own arguments, as in `CC="ccache gcc"`. */
  readonly command: readonly string[];
  /** The command and its output for `-v`: version, target, configuration. */
  readonly identity: string;
}

const TARGETS: Readonly<Record<string, RegExp>> = { x64: /^(x86_64|amd64)-/, arm64: /^(aarch64|arm64)-/ };

/** Returns `CC`, otherwise the first of cc, gcc and clang on `PATH`. Returns a reason if this machine cannot build. */
export function findCompiler(environment: Environment): Compiler | { readonly reason: string } {
  const target = TARGETS[process.arch];
  if (process.platform === "win32") return { reason: "there is no native build for Windows" };
  if (!target) return { reason: `there is no native kernel for ${process.arch}` };
  const command = environment.CC?.split(/\s+/).filter(Boolean) ?? [];
  if (command.length === 0) {
    // On macOS, /usr/bin/cc can be a stub that opens an installation dialog; xcode-select opens no dialog.
    if (process.platform === "darwin" && run(["/usr/bin/xcode-select", "-p"], environment) === undefined)
      return { reason: "no C compiler: the Xcode command line tools are not installed" };
    const installed = ["cc", "gcc", "clang"].find((name) =>
      Bun.which(name, { PATH: environment.PATH ?? "" }),
    );
    if (!installed) return { reason: "no C compiler found (cc, gcc, clang; set CC to use another one)" };
    command.push(installed);
  }
  // gcc and clang write the output of `-v` to standard error.
  const version = run([...command, "-v"], environment);
  if (version === undefined) return { reason: `the C compiler does not run: ${command.join(" ")}` };
  const machine = /^Target: (.*)$/m.exec(version)?.[1] ?? "";
  if (target.test(machine)) return { command, identity: `${command.join(" ")}\n${version}` };
  return { reason: `the C compiler is for ${machine || "another machine"}, not ${process.arch}` };
}

/** Returns the command's output on standard error; undefined if the command fails. */
function run(cmd: string[], env: Environment): string | undefined {
  try {
    const { success, stderr } = Bun.spawnSync({ cmd, env, stdout: "ignore", stderr: "pipe" });
    return success ? stderr.toString() : undefined;
  } catch {
    return undefined;
  }
}
