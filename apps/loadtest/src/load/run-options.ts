/** The options of a run, as the command line specifies them. Reports contain them as `asked`. */

export const SCENARIOS = ["login", "read", "mixed", "register"] as const;
type Scenario = (typeof SCENARIOS)[number];

/** The operations whose requests `createRequests` returns. */
export const OPERATIONS: Readonly<Record<Scenario, readonly string[]>> = {
  login: ["login"],
  read: ["me", "todos"],
  mixed: ["login", "me", "todos", "create-todo"],
  register: ["register"],
};

export interface RunOptions {
  readonly url: string;
  readonly scenario: Scenario;
  /** Open: requests at a rate, regardless of the responses. Closed: clients that each wait for their response. */
  readonly load:
    | { readonly kind: "open"; readonly ratePerSecond: number; readonly arrivals: "poisson" | "constant" }
    | { readonly kind: "closed"; readonly concurrency: number };
  readonly durationSeconds: number;
  readonly users: number;
  /** Percentages of the logins. */
  readonly unknownPercent: number;
  readonly wrongPercent: number;
  /** Of the arrivals and of every random choice: equal seeds send equal requests at equal times. */
  readonly seed: number;
}
