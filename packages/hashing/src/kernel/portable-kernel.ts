/** The kernel that runs on every machine. It uses node:crypto and has one lane; each slice runs a whole job. */
import { pbkdf2Sync } from "node:crypto";
import { STORED_ITERATIONS } from "../stored-hash.ts";
import { DIGEST_BYTES, type Kernel, type LaneJob, type Slice, type Throughput } from "./kernel.ts";

/** These iterations take a few milliseconds on current machines. */
const CALIBRATION_ITERATIONS = 20_000;

export class PortableKernel implements Kernel {
  readonly lanes = 1;
  #job: LaneJob | null = null;
  #digest: Uint8Array | null = null;
  readonly #capacityPerSecond: number;

  constructor() {
    const calibration = { password: new Uint8Array(0), salt: new Uint8Array(0) };
    derive({ ...calibration, iterations: 1 });
    const startedMs = performance.now();
    derive({ ...calibration, iterations: CALIBRATION_ITERATIONS });
    const seconds = (performance.now() - startedMs) / 1000;
    this.#capacityPerSecond = CALIBRATION_ITERATIONS / seconds / STORED_ITERATIONS;
  }

  load(_lane: number, { password, salt, iterations }: LaneJob): void {
    this.#job = { password: password.slice(), salt: salt.slice(), iterations };
  }

  run(): Slice {
    if (!this.#job || this.#digest) return { iterations: 0, seconds: 0 };
    const before = process.threadCpuUsage();
    this.#digest = derive(this.#job);
    const { user, system } = process.threadCpuUsage(before);
    return { iterations: this.#job.iterations, seconds: (user + system) / 1e6 };
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
    return { kernel: "portable", lanes: this.lanes, capacityPerSecond: this.#capacityPerSecond };
  }
}

function derive({ password, salt, iterations }: LaneJob): Uint8Array {
  return pbkdf2Sync(password, salt, iterations, DIGEST_BYTES, "sha256");
}
