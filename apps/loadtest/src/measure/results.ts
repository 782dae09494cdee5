/** What a run came to: the one document that the terminal, the JSON file, the page and the assertions read. */

/** Milliseconds; null where nothing was measured. */
export interface Latency {
  readonly count: number;
  readonly mean: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
  /** For the percentile curve: `[percent, milliseconds]`, ascending, from 0 to 100. */
  readonly curve: readonly (readonly [percent: number, milliseconds: number])[];
}

export const SCENARIOS = ["login", "read", "mixed", "register"] as const;
export type Scenario = (typeof SCENARIOS)[number];

/** What was asked for. */
export interface Asked {
  readonly url: string;
  readonly scenario: Scenario;
  /** Arrivals at a rate, whatever the service does, or clients that each wait for their answer. */
  readonly load:
    | { readonly kind: "open"; readonly ratePerSecond: number; readonly arrivals: "poisson" | "constant" }
    | { readonly kind: "closed"; readonly concurrency: number };
  readonly durationSeconds: number;
  readonly users: number;
  /** Shares of the logins, in percent. */
  readonly unknownPercent: number;
  readonly wrongPercent: number;
  /** Of the arrivals and of every draw: the same seed asks the same. */
  readonly seed: number;
}

/** One kind of request, such as `login`, `register`, `me`, `todos`, `create-todo`. */
export interface OperationResult {
  readonly sent: number;
  /** Answers by status; `none` where the connection broke or nothing came within the timeout. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Answers that were not what was asked for: not the status expected, or none. A wrong password's 401 is expected. */
  readonly errors: number;
  /** Expected answers per second of the counted duration. */
  readonly perSecond: number;
  /** Of the expected answers, from the intended start (open loop) or from sending (closed loop). */
  readonly latency: Latency | null;
}

/** One second of the run. */
export interface Second {
  /** Since the counted part began. */
  readonly second: number;
  /** Intended starts that fell into it. */
  readonly offered: number;
  /** Expected answers that came in it. */
  readonly answered: number;
  readonly errors: number;
  /** Of the expected answers that came in it; null where there were none. */
  readonly p50: number | null;
  readonly p99: number | null;
  readonly probeP99: number | null;
}

export interface ProbeResult {
  /** Null if nothing was answered. */
  readonly latency: Latency | null;
  /** Why the stream ended early, if it did. */
  readonly failure: string | null;
}

/** The tester's own part: if it was the bottleneck, its figures say nothing about the service. */
export interface DriverResult {
  /** Of one core, 0 to 1 and more. */
  readonly cpuShare: number;
  /** How much later than intended requests were sent (open loop); null in a closed loop. */
  readonly lateness: Latency | null;
  /** Why the tester was the bottleneck; null if it was not. */
  readonly bottleneck: string | null;
}

/** What the service says of itself on its metrics port, where that can be reached. */
export interface ServerFigures {
  readonly kernel: string;
  readonly workers: number;
  readonly lanes: number;
  readonly lanesBusy: number;
  readonly queueLength: number;
  /** Logins a second that its hashing core says it can check. */
  readonly capacityPerSecond: number;
}

/** One rate of a capacity search. */
export interface Step {
  readonly ratePerSecond: number;
  readonly achievedPerSecond: number;
  readonly p50: number | null;
  readonly p99: number | null;
  readonly shed: number;
  readonly errors: number;
  readonly passed: boolean;
}

export interface Run {
  readonly version: 1;
  /** ISO 8601. */
  readonly startedAt: string;
  /** Processor, cores and runtime of the machine that drove. */
  readonly machine: string;
  readonly asked: Asked;
  /** `interrupted`: ended by a signal; everything up to then is counted. */
  readonly outcome: "complete" | "interrupted";
  /** How long was counted. */
  readonly countedSeconds: number;
  readonly all: OperationResult;
  readonly operations: Readonly<Record<string, OperationResult>>;
  readonly seconds: readonly Second[];
  readonly probe: ProbeResult;
  readonly driver: DriverResult;
  readonly server: ServerFigures | null;
}

/** `--find-capacity`. */
export interface CapacityReport {
  readonly version: 1;
  readonly startedAt: string;
  readonly machine: string;
  readonly url: string;
  /** Bound on the 99th percentile, in milliseconds. */
  readonly p99BoundMs: number;
  readonly steps: readonly Step[];
  /** Logins a second with so many clients in a closed loop: what the planner's model is made of. */
  readonly curve: readonly {
    readonly concurrency: number;
    readonly perSecond: number;
    readonly p50: number;
  }[];
  /** Answered at the highest rate that passed; 0 if none did. */
  readonly loginsPerSecond: number;
  readonly p99: number | null;
  /** Cores that the service's hash workers use; null without metrics. */
  readonly cores: number | null;
  /** Logins that these check at once; absent or null without metrics. */
  readonly lanes?: number | null;
  readonly kernel: string | null;
  /** Of the hashing core's raw capacity, 0 to 1; null without metrics. */
  readonly shareOfRaw: number | null;
  readonly sentence: string;
}
