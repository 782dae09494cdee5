/** The options of a run, as the command line specifies them. Reports contain them as `asked`. */
import type { RequestOptions } from "./scenarios.ts";

export interface RunOptions extends RequestOptions {
  readonly url: string;
  /** Open: requests at a rate, regardless of the responses. Closed: clients that each wait for their response. */
  readonly load:
    | { readonly kind: "open"; readonly ratePerSecond: number; readonly arrivals: "poisson" | "constant" }
    | { readonly kind: "closed"; readonly concurrency: number };
  readonly durationSeconds: number;
}
