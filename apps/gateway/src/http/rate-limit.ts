/**
 * Rate limits. Every request counts once against the default quota before anything else is done with it; a route
 * with a quota of its own counts again once its input has proved valid.
 */
import { Elysia } from "elysia";
import { rateLimit } from "elysia-rate-limit";
import type { RateLimits } from "../config/config.ts";
import { answerTo, TooManyRequests } from "../errors.ts";
import type { Counters } from "../quotas/counters.ts";
import { createMemoryCounters } from "../quotas/memory.ts";
import type { Quota } from "../quotas/quota.ts";
import { clientKey } from "./client-address.ts";
import { isPreflight } from "./cors.ts";
import { pathOf, requestContext } from "./request-context.ts";

export interface Limit {
  readonly quota: Quota;
  readonly counters: Counters;
}

/** Counters of its own for each quota, also where two are equal. */
export function createLimits(quotas: RateLimits): Readonly<Record<keyof RateLimits, Limit>> {
  const limit = (quota: Quota): Limit => ({
    quota,
    counters: createMemoryCounters({ windowMs: quota.windowMs }),
  });
  return {
    default: limit(quotas.default),
    login: limit(quotas.login),
    register: limit(quotas.register),
  };
}

/** Counts in `onRequest`, where no later answer can be missed. Preflights are exempt, and the paths of `isExempt`. */
export function limitEveryRequest(limit: Limit | null, isExempt: (path: string) => boolean) {
  const layer = new Elysia({ name: "rate-limit" }).use(requestContext());
  if (limit === null) return layer;
  const { quota, counters } = limit;
  return layer.onRequest((context) => {
    const { headers } = context.set;
    if (isExempt(pathOf(context)) || isPreflight(context.request)) return;
    const { count, resetsAt } = counters.hit(clientKey(context.clientAddress));
    const resetSeconds = Math.max(0, Math.ceil((resetsAt - Date.now()) / 1000));
    headers["RateLimit-Limit"] = quota.limit;
    headers["RateLimit-Remaining"] = Math.max(0, quota.limit - count);
    headers["RateLimit-Reset"] = resetSeconds;
    if (count > quota.limit) throw new TooManyRequests(quota.text, resetSeconds);
  });
}

/** Counts requests of the routes registered after it whose input is valid, in `beforeHandle`; null counts none. */
export function limitRoute(limit: Limit | null): (app: Elysia) => Elysia {
  if (limit === null) return (app) => app;
  const { quota, counters } = limit;
  const limiter = rateLimit({
    duration: quota.windowMs,
    // A function, since two limiters given equal numbers become one.
    max: () => quota.limit,
    scoping: "scoped",
    countFailedRequest: true,
    generator: (_request, _server, { clientAddress }: { clientAddress: string }) => clientKey(clientAddress),
    errorResponse: refusal(quota),
    context: {
      init() {},
      increment(key) {
        const { count, resetsAt } = counters.hit(key);
        return { count, nextReset: new Date(resetsAt), start: resetsAt - quota.windowMs };
      },
      decrement() {},
      reset() {},
      kill() {},
    },
  });
  return (app) => {
    limiter(app);
    return app;
  };
}

/** The same answer as any other 429; the limiter adds the headers that tell when to come back. */
function refusal(quota: Quota): Response {
  const { status, detail } = answerTo(new TooManyRequests(quota.text, 0));
  return Response.json({ detail }, { status });
}
