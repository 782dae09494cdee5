/** The kernel that runs on every machine: node:crypto with one lane; a slice is a whole job. */
import { pbkdf2Sync } from "node:crypto";
import { STORED_ITERATIONS } from "../stored-hash.ts";
import { assertWorkerThread, DIGEST_BYTES, type Kernel, type LaneJob, type Throughput } from "./kernel.ts";

/** A few milliseconds on current machines. */
const CALIBRATION_ITERATIONS = 20_000;
/** The weight of the newest measurement in the moving average. */
const NEWEST_WEIGHT = 0.2;

export class PortableKernel implements Kernel {
  readonly lanes = 1;
  #job: LaneJob | null = null;
  #digest: Uint8Array | null = null;
  #secondsPerIteration: number;

  constructor() {
    assertWorkerThread();
    const calibration = { password: new Uint8Array(0), salt: new Uint8Array(0) };
    derive({ ...calibration, iterations: 1 });
    this.#secondsPerIteration = derive({
      ...calibration,
      iterations: CALIBRATION_ITERATIONS,
    }).secondsPerIteration;
  }

  load(_lane: number, { password, salt, iterations }: LaneJob): void {
    this.#job = { password: password.slice(), salt: salt.slice(), iterations };
  }

  run(): void {
    if (!this.#job || this.#digest) return;
    const { digest, secondsPerIteration } = derive(this.#job);
    this.#digest = digest;
    // The time of a short job is mostly the call's overhead.
    if (this.#job.iterations < CALIBRATION_ITERATIONS) return;
    this.#secondsPerIteration += NEWEST_WEIGHT * (secondsPerIteration - this.#secondsPerIteration);
  }

  isFinished(): boolean {
    return this.#digest !== null;
  }

  read(_lane: number, digest: Uint8Array): void {
    if (this.#digest) digest.set(this.#digest);
  }

  clear(): void {
    for (const bytes of [this.#job?.password, this.#job?.salt, this.#digest]) bytes?.fill(0);
    this.#job = null;
    this.#digest = null;
  }

  throughput(): Throughput {
    return { kernel: "portable", capacityPerSecond: 1 / (STORED_ITERATIONS * this.#secondsPerIteration) };
  }
}

function derive({ password, salt, iterations }: LaneJob): {
  digest: Uint8Array;
  secondsPerIteration: number;
} {
  const startedMs = performance.now();
  const digest = pbkdf2Sync(password, salt, iterations, DIGEST_BYTES, "sha256");
  return { digest, secondsPerIteration: (performance.now() - startedMs) / 1000 / iterations };
}
