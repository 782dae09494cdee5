/** What ends a load test before it has measured anything: a sentence for the operator and an exit code. */

/** sysexits.h: EX_USAGE and EX_UNAVAILABLE. */
export type ExitCode = 64 | 69;

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
