/** Everything that must be there before a run may begin: the service, its accounts, their tokens, todos to list. */

import { EXIT, LoadtestError } from "../errors.ts";
import type { Asked } from "../measure/results.ts";
import { createRequests, type NextRequest } from "./scenarios.ts";
import { seedDatabase } from "./seed-database.ts";
import { type Advance, expectService, fillTodos, logInAccounts, registerAccounts } from "./service-users.ts";

export interface PrepareOptions {
  readonly asked: Asked;
  /** Makes the accounts in this database, which must be the service's. @default through the public API */
  readonly seedDatabaseUrl?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onAdvance?: Advance | undefined;
}

/** Accounts whose tokens the reading scenarios send. */
const MAX_TOKENS = 32;

/** @throws {LoadtestError} 64, 69, or 130 if the signal came first */
export async function prepareRequests(options: PrepareOptions): Promise<NextRequest> {
  const { asked, seedDatabaseUrl, signal = new AbortController().signal, onAdvance = () => {} } = options;
  const { url, users: count, scenario } = asked;
  await expectService(url);
  if (seedDatabaseUrl === undefined) await registerAccounts({ url, count, signal, onAdvance });
  else await seedDatabase({ url: seedDatabaseUrl, count, signal, onAdvance });
  // One login at least: it shows that the service knows the accounts and does not limit them.
  const isReading = scenario === "read" || scenario === "mixed";
  const tokens = await logInAccounts({ url, count: isReading ? Math.min(count, MAX_TOKENS) : 1, signal });
  if (isReading && !signal.aborted) await fillTodos(url, signal);
  if (signal.aborted) throw new LoadtestError("Interrupted before anything was measured.", EXIT.interrupted);
  return createRequests(asked, tokens);
}
