import type { RunOptions } from "../../src/load/run-options.ts";

export const runOptionsOf = (asked: Partial<RunOptions> & Pick<RunOptions, "url">): RunOptions => ({
  scenario: "login",
  load: { kind: "closed", concurrency: 1 },
  durationSeconds: 1,
  users: 1,
  unknownPercent: 0,
  wrongPercent: 0,
  seed: 1,
  ...asked,
});
