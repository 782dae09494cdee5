/** Runs commands without privileges: as `nobody` if this process is root, otherwise as its own user. */
import { spawn } from "node:child_process";
import { chown, mkdir } from "node:fs/promises";
import type { Readable } from "node:stream";

/** `nobody` on Linux. */
const NOBODY = 65_534;

export const isRoot = (): boolean => process.getuid?.() === 0;

export interface CommandOptions {
  readonly cwd: string;
  /** The complete environment; nothing is inherited. */
  readonly environment: Readonly<Record<string, string>>;
  /** Runs as root if this process is root. @default false */
  readonly privileged?: boolean;
}

interface Running {
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** The exit code, or the signal that ended it. */
  readonly exited: Promise<number | NodeJS.Signals>;
  /** Does nothing after the exit. */
  kill(signal: NodeJS.Signals): void;
}

export function startCommand(command: readonly string[], options: CommandOptions): Running {
  const [file = "", ...args] = command;
  const { promise: exited, resolve, reject } = Promise.withResolvers<number | NodeJS.Signals>();
  const child = spawn(file, args, {
    cwd: options.cwd,
    env: options.environment,
    stdio: ["ignore", "pipe", "pipe"],
    ...(isRoot() && !options.privileged ? { uid: NOBODY, gid: NOBODY } : {}),
  });
  child.on("error", reject).on("exit", (code, signal) => resolve(code ?? signal ?? -1));
  return { stdout: child.stdout, stderr: child.stderr, exited, kill: (signal) => void child.kill(signal) };
}

/** @throws Error with the output of the command, if it exits with another code than 0 */
export async function runCommand(command: readonly string[], options: CommandOptions): Promise<void> {
  const { stdout, stderr, exited } = startCommand(command, options);
  const [output, errors, code] = await Promise.all([readAll(stdout), readAll(stderr), exited]);
  if (code !== 0) throw new Error(`${command.join(" ")}\nexited with ${code}:\n${output}${errors}`);
}

export async function readAll(stream: Readable): Promise<string> {
  let text = "";
  for await (const chunk of stream.setEncoding("utf8")) text += chunk;
  return text;
}

/** Creates a folder that the unprivileged user can write to. */
export async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true });
  await chownToNobody(path);
}

async function chownToNobody(path: string): Promise<void> {
  if (isRoot()) await chown(path, NOBODY, NOBODY);
}
