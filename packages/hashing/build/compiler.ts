/** Finds the machine's C compiler and asks what it is, without ever opening a dialog or downloading anything. */

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Compiler {
  /** The command with its own arguments, as in `CC="ccache gcc"`. */
  readonly command: readonly string[];
  /** What it says about itself: version, target, configuration. */
  readonly identity: string;
}

const TARGETS: Readonly<Record<string, RegExp>> = { x64: /^(x86_64|amd64)-/, arm64: /^(aarch64|arm64)-/ };

/** `CC`, else the first of cc, gcc, clang on `PATH`; or the reason why this machine cannot build. */
export function findCompiler(environment: Environment): Compiler | { readonly reason: string } {
  const target = TARGETS[process.arch];
  if (process.platform === "win32") return { reason: "there is no native build for Windows" };
  if (!target) return { reason: `there is no native kernel for ${process.arch}` };
  const command = environment.CC?.split(/\s+/).filter(Boolean) ?? [];
  if (command.length === 0) {
    const found = systemCompiler(environment);
    if (typeof found !== "string") return found;
    command.push(found);
  }
  const identity = describe(command, environment);
  if (identity === undefined) return { reason: `the C compiler does not run: ${command.join(" ")}` };
  const machine = /^Target: (.*)$/m.exec(identity)?.[1] ?? "";
  if (!target.test(machine))
    return { reason: `the C compiler is for ${machine || "another machine"}, not ${process.arch}` };
  return { command, identity };
}

function systemCompiler(environment: Environment): string | { readonly reason: string } {
  // On macOS /usr/bin/cc is a stub that asks the user to install the tools; xcode-select only answers.
  if (process.platform === "darwin" && !succeeds(["/usr/bin/xcode-select", "-p"], environment)) {
    return { reason: "no C compiler: the Xcode command line tools are not installed" };
  }
  for (const name of ["cc", "gcc", "clang"]) {
    const path = Bun.which(name, { PATH: environment.PATH ?? "" });
    if (path) return path;
  }
  return { reason: "no C compiler found (cc, gcc, clang; CC names another)" };
}

function succeeds(cmd: string[], env: Environment): boolean {
  try {
    return Bun.spawnSync({ cmd, env, stdout: "ignore", stderr: "ignore" }).success;
  } catch {
    return false;
  }
}

/** gcc and clang both answer `-v` on standard error. */
function describe(command: readonly string[], env: Environment): string | undefined {
  try {
    const { success, stderr } = Bun.spawnSync({
      cmd: [...command, "-v"],
      env,
      stdout: "ignore",
      stderr: "pipe",
    });
    return success ? `${command.join(" ")}\n${stderr}` : undefined;
  } catch {
    return undefined;
  }
}
