/**
 * How long account events are kept. Every replica deletes old events, also without the port of the administration, because replicas
 * share them. If no events are recorded, this is one query an hour.
 */
import { setTimeout } from "node:timers/promises";
import type { Database } from "@latchkey/database";
import type { Logger } from "../observability/logger.ts";

const HOUR_MS = 60 * 60 * 1000;
const DAY_SECONDS = 24 * 60 * 60;
/** Of `events on --days`. */
const MAX_DAYS = 365;
/** By so much, clocks can differ (`docs/events.md`). */
const CLOCK_SECONDS = 60;

/** Warns if a verifier that starts cannot learn of every revocation of a token that is still valid. */
export async function checkEventRetention(
  events: Pick<Database["events"], "getState">,
  {
    tokenExpireMinutes,
    logger,
  }: { readonly tokenExpireMinutes: number; readonly logger: Pick<Logger, "warn"> },
): Promise<void> {
  const state = await events.getState();
  const neededSeconds = tokenExpireMinutes * 60 + CLOCK_SECONDS;
  if (state === null || state.days * DAY_SECONDS >= neededSeconds) return;
  const days = Math.ceil(neededSeconds / DAY_SECONDS);
  const longer = days <= MAX_DAYS ? `run \`bun run admin events on --days ${days}\`, or ` : "";
  logger.warn(
    `account events are kept for ${state.days} days, less than the lifetime of a token and a minute: a service that follows them and restarts can accept a revoked token; ${longer}lower AUTH_TOKEN_EXPIRE_MINUTES`,
  );
}

export interface EventPruning {
  close(): Promise<void>;
}

/** Deletes old events now and once an hour. */
export function startEventPruning(
  events: Pick<Database["events"], "prune">,
  { logger, pauseMs = HOUR_MS }: { readonly logger: Pick<Logger, "warn">; readonly pauseMs?: number },
): EventPruning {
  const stopping = new AbortController();
  const poll = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await events
        .prune()
        .catch((error) => logger.warn({ err: error }, "old account events were not deleted"));
      // `close` ends this pause early.
      await setTimeout(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const polling = poll();
  return {
    close() {
      stopping.abort();
      return polling;
    },
  };
}
