/** What ends a load test with nothing to report: a sentence for the operator and an exit code. */

/** 64 and 69 as sysexits.h has them: EX_USAGE, EX_UNAVAILABLE; 130 is 128 + SIGINT, as shells count. */
export const EXIT = { done: 0, failed: 1, usage: 64, unavailable: 69, interrupted: 130 } as const;

export type ExitCode = Exclude<(typeof EXIT)[keyof typeof EXIT], 0>;

export class LoadtestError extends Error {
  override readonly name = "LoadtestError";
  readonly code = "LOADTEST_ERROR";
  constructor(
    message: string,
    readonly exitCode: ExitCode,
  ) {
    super(message);
  }
}

export const describeError = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
