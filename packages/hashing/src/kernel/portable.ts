/** The kernel that runs everywhere: node:crypto, one lane, and a slice that is the whole job. */
import { pbkdf2Sync } from "node:crypto";
import { STORED_ITERATIONS } from "../encoding.ts";
import { DIGEST_BYTES } from "../protocol.ts";
import { assertWorkerThread, type Kernel, type LaneJob, type Pace, type Slice } from "./kernel.ts";

/** A few milliseconds on any machine of this century. */
const CALIBRATION_ITERATIONS = 20_000;
/** Weight of the newest measurement in the running mean. */
const NEWEST_WEIGHT = 0.2;

interface Lane {
  readonly password: Uint8Array;
  readonly salt: Uint8Array;
  readonly iterations: number;
  digest: Uint8Array | null;
}

export class PortableKernel implements Kernel {
  readonly lanes = 1;
  #lane: Lane | null = null;
  #secondsPerIteration: number;

  constructor() {
    assertWorkerThread();
    const nothing = new Uint8Array(0);
    derive({ password: nothing, salt: nothing, iterations: 1 });
    this.#secondsPerIteration = timed({
      password: nothing,
      salt: nothing,
      iterations: CALIBRATION_ITERATIONS,
    });
  }

  load(_lane: number, job: LaneJob): void {
    this.#lane = {
      password: job.password.slice(),
      salt: job.salt.slice(),
      iterations: job.iterations,
      digest: null,
    };
  }

  run(_slice: Slice): void {
    const lane = this.#lane;
    if (!lane || lane.digest) return;
    const started = performance.now();
    lane.digest = derive(lane);
    const seconds = (performance.now() - started) / 1000;
    // A short job measures the call, not the iterations.
    if (lane.iterations < CALIBRATION_ITERATIONS) return;
    this.#secondsPerIteration += NEWEST_WEIGHT * (seconds / lane.iterations - this.#secondsPerIteration);
  }

  isFinished(): boolean {
    return this.#lane?.digest != null;
  }

  read(_lane: number, digest: Uint8Array): void {
    if (this.#lane?.digest) digest.set(this.#lane.digest);
  }

  clear(): void {
    this.#lane?.password.fill(0);
    this.#lane?.salt.fill(0);
    this.#lane?.digest?.fill(0);
    this.#lane = null;
  }

  pace(): Pace {
    return { kernel: "portable", capacityPerSecond: 1 / (STORED_ITERATIONS * this.#secondsPerIteration) };
  }
}

function derive(job: LaneJob): Uint8Array {
  assertWorkerThread();
  return pbkdf2Sync(job.password, job.salt, job.iterations, DIGEST_BYTES, "sha256");
}

/** Seconds per iteration. */
function timed(job: LaneJob): number {
  const started = performance.now();
  derive(job);
  return (performance.now() - started) / 1000 / job.iterations;
}
