/** Very many addresses guess the password of one user for a simulated day, while the user logs in from a familiar network. */
import { expect, test } from "bun:test";
import { createMemoryBudgetStore } from "../../src/rate-limit/memory-budget-store.ts";
import { createMemoryStore } from "../../src/rate-limit/memory-store.ts";
import { createClock } from "../support/clock.ts";
import { startService } from "../support/service.ts";

const ADDRESSES = 2_000;
const SIMULTANEOUS = 20;
const BATCHES = ADDRESSES / SIMULTANEOUS;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Each address is in a different /64. */
const addressOf = (index: number): string => `2001:db8:${index.toString(16)}::1`;

test("2,000 addresses that guess in a day reach at most 110 derivations, and the owner always logs in", async () => {
  const { now, advance } = createClock();
  await using service = await startService({
    env: { RATE_LIMIT_ENABLED: "true", TRUST_PROXY: "1", LOG_LEVEL: "warn" },
    createStore: ({ windowMs }) => createMemoryStore({ windowMs, now }),
    createBudgetStore: (budget) => createMemoryBudgetStore({ ...budget, now }),
    rejectionDelayMs: 0,
  });
  const owner = await service.register();
  const logIn = async (password: string, headers = {}): Promise<number> =>
    (await service.call("POST", "/auth/login", { body: { email: owner.email, password }, headers })).status;
  const derivationsBefore = service.derivations();

  const statuses: number[] = [];
  for (let batch = 0; batch < BATCHES; batch++) {
    const guesses = Array.from({ length: SIMULTANEOUS }, (_, index) => batch * SIMULTANEOUS + index);
    const sent = guesses.map((guess) => logIn(`guess ${guess}`, { "x-forwarded-for": addressOf(guess) }));
    statuses.push(...(await Promise.all(sent)));
    expect(await logIn(owner.password)).toBe(200);
    advance(DAY_MS / BATCHES);
  }
  const guesses = service.derivations() - derivationsBefore - BATCHES;
  expect(guesses).toBeWithin(100, 111);
  expect(statuses.filter((status) => status === 401)).toHaveLength(guesses);
  expect(statuses.filter((status) => status === 429)).toHaveLength(ADDRESSES - guesses);
}, 120_000);
