/** How long account events are kept, and the warning if that is too short for the lifetime of tokens. */
import { expect, test } from "bun:test";
import type { EventState } from "@latchkey/database";
import { checkEventRetention, startEventPruning } from "../../src/lifecycle/event-retention.ts";

const state = { epoch: "", lastPosition: 0, isNumbered: true };
const warningsFor = async (kept: EventState | null, tokenExpireMinutes: number): Promise<unknown[]> => {
  const warnings: unknown[] = [];
  const logger = { warn: (message: unknown) => warnings.push(message) };
  await checkEventRetention({ getState: async () => kept }, { tokenExpireMinutes, logger });
  return warnings;
};

test("events that are kept for less than a token is valid, and a minute, are a warning", async () => {
  expect(await warningsFor(null, 525_600)).toEqual([]);
  expect(await warningsFor({ ...state, days: 1 }, 1_439)).toEqual([]);
  expect(await warningsFor({ ...state, days: 1 }, 1_440)).toEqual([
    expect.stringMatching(/kept for 1 days.* on --days 2`, or lower AUTH_TOKEN_EXPIRE_MINUTES$/),
  ]);
  expect(await warningsFor({ ...state, days: 365 }, 525_600)).toEqual([
    expect.not.stringContaining("--days"),
  ]);
});

test("old events are deleted again and again, also after an error, until the service stops", async () => {
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const warnings: unknown[] = [];
  let calls = 0;
  const prune = async () => {
    calls += 1;
    if (calls === 1) throw new Error("unreachable");
    (calls === 2 ? first : second).resolve();
    return 0;
  };
  const logger = { warn: (line: unknown) => warnings.push(line) };
  const pruning = startEventPruning({ prune }, { logger, pauseMs: 1 });
  await Promise.all([first.promise, second.promise]);
  await pruning.close();
  expect(calls).toBeGreaterThanOrEqual(3);
  expect(warnings).toHaveLength(1);
  // A stop does not wait for the hour.
  await startEventPruning({ prune }, { logger }).close();
});
