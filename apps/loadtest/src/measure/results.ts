/** The result of a run: the one document behind the terminal, the JSON file, the HTML page and the assertions. */
import type { RunOptions } from "../load/run-options.ts";

/** In milliseconds. */
export interface Latency {
  readonly count: number;
  readonly mean: number;
  readonly p50: number;
  readonly p90: number;
  readonly p95: number;
  readonly p99: number;
  readonly "p99.9": number;
  readonly max: number;
  /** For the percentile curve: `[percent, milliseconds]`, ascending, from 0 to 100. */
  readonly curve: readonly (readonly [percent: number, milliseconds: number])[];
}

/** One kind of request, such as `login`, `register`, `me`, `todos`, `create-todo`. */
export interface OperationResult {
  readonly sent: number;
  /** Number of responses by status; `none` if the connection failed or the timeout expired. */
  readonly statuses: Readonly<Record<string, number>>;
  /** The responses `none` by name: `refused`, `reset`, `closed`, `timed out`, or another error code. */
  readonly connectionErrors: Readonly<Record<string, number>>;
  /** Responses with an unexpected status, and missing responses. The 401 for a wrong password is expected. */
  readonly errors: number;
  /** Expected responses per second of the measured duration. */
  readonly perSecond: number;
  /** Of expected responses, from the intended start (open loop) or from sending (closed loop); null without any. */
  readonly latency: Latency | null;
}

/** One second of the run. */
export interface Second {
  /** Since the beginning of the measurement. */
  readonly second: number;
  /** Number of intended starts in this second. */
  readonly offered: number;
  /** Number of expected responses in this second, whenever their requests were sent; also for the percentiles. */
  readonly answered: number;
  readonly errors: number;
  readonly p50: number | null;
  readonly p99: number | null;
  readonly probeP99: number | null;
}

/** The load generator itself: if it was the bottleneck, the measurement does not describe the service. */
export interface LoadGeneratorResult {
  /** CPU time as a multiple of one core. */
  readonly cpuShare: number;
  /** Proportion of the time in which the thread that sends requests waited for a core; 0 if the system does not report it. */
  readonly waitShare: number;
  /** How much later than intended requests were sent (open loop); null in a closed loop. */
  readonly lateness: Latency | null;
  /** A sentence if the measurement does not describe the service, otherwise null. */
  readonly bottleneck: string | null;
}

/** Metrics of the service's hashing core. */
export interface ServerFigures {
  readonly kernel: string;
  readonly workers: number;
  readonly lanes: number;
  readonly lanesBusy: number;
  readonly queueLength: number;
  /** Logins per second, as estimated by the hashing core. */
  readonly capacityPerSecond: number;
}

export interface Run {
  readonly version: 1;
  /** ISO 8601. */
  readonly startedAt: string;
  /** Processor, cores and runtime of the machine of the load generator. */
  readonly machine: string;
  readonly asked: RunOptions;
  /** `interrupted`: ended by a signal; the result covers the time until then. */
  readonly outcome: "complete" | "interrupted";
  /** Whether fewer requests were answered than offered; false in a closed loop. */
  readonly overloaded: boolean;
  /** Measured duration. */
  readonly countedSeconds: number;
  readonly all: OperationResult;
  readonly operations: Readonly<Record<string, OperationResult>>;
  readonly seconds: readonly Second[];
  readonly probe: {
    /** Null without any response. */
    readonly latency: Latency | null;
    /** Why the probes ended early; null if they did not. */
    readonly failure: string | null;
  };
  readonly driver: LoadGeneratorResult;
  /** Null without metrics. */
  readonly server: ServerFigures | null;
}

/** A run with what the command line adds to it. */
export interface RunReport extends Run {
  /** Shell command that repeats the run. */
  readonly command: string;
  readonly assertions: readonly AssertionResult[];
}

export interface AssertionResult {
  /** Such as `login.p99 < 800 ms`. */
  readonly assertion: string;
  readonly passed: boolean;
  /** In the unit of the assertion; null if the measurement is missing. */
  readonly measured: number | null;
  /** The measured value with its unit, or the reason why it is missing. */
  readonly result: string;
}
