/** What the benchmark compares: the pool with a kernel, that kernel's bare loop in C, and node:crypto on all cores. */
import { pbkdf2 } from "node:crypto";
import { promisify } from "node:util";
import { buildNative } from "../build/native.ts";
import { DEFAULT_NICE } from "../src/hasher.ts";
import { createHasher, type Hasher } from "../src/index.ts";

export const ITERATIONS = 600_000;
const SALT = new Uint8Array(32).fill(7);
const PASSWORD = new TextEncoder().encode("correct horse battery staple");
const cryptoPbkdf2 = promisify(pbkdf2);

export interface Contender {
  readonly name: string;
  /** One derivation of 600,000 iterations. */
  derive(): Promise<unknown>;
}

export const crypto: Contender = {
  name: "crypto.pbkdf2",
  derive: () => cryptoPbkdf2(PASSWORD, SALT, ITERATIONS, 32, "sha256"),
};

export interface PoolContender extends Contender {
  readonly hasher: Hasher;
}

export function openPool(kernel: string): PoolContender {
  const hasher = createHasher({ kernel, queueLimit: 100_000 });
  const job = { password: PASSWORD, salt: SALT, iterations: ITERATIONS };
  return { name: `pool ${kernel}`, hasher, derive: () => hasher.derive(job) };
}

/** Seconds that so many derivations take, all of them asked for at once. */
export async function secondsFor(contender: Contender, derivations: number): Promise<number> {
  const started = performance.now();
  await Promise.all(Array.from({ length: derivations }, () => contender.derive()));
  return (performance.now() - started) / 1000;
}

export interface BareLoop {
  readonly family: string;
  readonly width: number;
  readonly threads: number;
  readonly seconds: number;
}

/** Derivations per second of the kernel's loop in C, at the pool's priority but without JavaScript, a pool or slices. */
export function bareLoopRate(program: string, { family, width, threads, seconds }: BareLoop): number {
  const child = Bun.spawnSync([
    "nice",
    "-n",
    `${DEFAULT_NICE}`,
    program,
    family,
    `${width}`,
    `${threads}`,
    `${seconds}`,
  ]);
  if (child.exitCode !== 0) throw new Error(child.stderr.toString());
  return rateOf(JSON.parse(child.stdout.toString()));
}

/** The one line that the program prints. */
function rateOf(line: { derivationsPerSecond: number }): number {
  return line.derivationsPerSecond;
}

/** The path of that program; throws without a C compiler. */
export async function buildBareLoop(): Promise<string> {
  const built = await buildNative({ environment: process.env, target: "bench" });
  if (built.built === "not") throw new Error(built.reason);
  return built.path;
}
