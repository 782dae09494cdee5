/** The candidates of the benchmark: the pool with a kernel, the same kernel in a C loop, and node:crypto on all cores. */
import { pbkdf2 } from "node:crypto";
import { join } from "node:path";
import { promisify } from "node:util";
import { DEFAULT_NICE } from "../src/hasher.ts";
import { createHasher, type Hasher } from "../src/index.ts";
import type { KernelLoop } from "./kernel-loop.ts";

export const ITERATIONS = 600_000;
const SALT = new Uint8Array(32).fill(7);
const PASSWORD = new TextEncoder().encode("correct horse battery staple");
const cryptoPbkdf2 = promisify(pbkdf2);

export interface Contender {
  readonly name: string;
  /** Runs one derivation of 600,000 iterations. */
  derive(): Promise<unknown>;
}

export const crypto: Contender = {
  name: "crypto.pbkdf2",
  derive: () => cryptoPbkdf2(PASSWORD, SALT, ITERATIONS, 32, "sha256"),
};

export interface PoolContender extends Contender, AsyncDisposable {
  readonly hasher: Hasher;
}

export function openPool(kernel: string): PoolContender {
  const hasher = createHasher({ kernel, queueLimit: 100_000, queueSeconds: 3600 });
  const job = { password: PASSWORD, salt: SALT, iterations: ITERATIONS };
  const close = () => hasher.close();
  return { name: `pool ${kernel}`, hasher, derive: () => hasher.derive(job), [Symbol.asyncDispose]: close };
}

/** The seconds that this number of concurrent derivations takes. */
export async function secondsFor(contender: Contender, derivations: number): Promise<number> {
  const startedMs = performance.now();
  await Promise.all(Array.from({ length: derivations }, () => contender.derive()));
  return (performance.now() - startedMs) / 1000;
}

/** Derivations per second of the kernel in a loop, at the pool's priority but without a pool or slices. */
export function kernelLoopRate(loop: KernelLoop): number {
  const program = [process.execPath, join(import.meta.dir, "kernel-loop.ts"), JSON.stringify(loop)];
  const child = Bun.spawnSync(["nice", "-n", String(DEFAULT_NICE), ...program]);
  if (child.exitCode !== 0) throw new Error(child.stderr.toString());
  return Number(child.stdout.toString());
}
