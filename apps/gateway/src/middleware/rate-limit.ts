/**
 * Rate limits. Every request counts once against the default quota before anything else is done with it; a route
 * with a quota of its own counts again once its input has proved valid.
 */
import type { Quota } from "@latchkey/config";
import { type AnyElysia, Elysia } from "elysia";
import { rateLimit } from "elysia-rate-limit";
import type { RateLimits } from "../config.ts";
import { TooManyRequests, toErrorResponse } from "../errors.ts";
import type { CreateStore, RateLimitStore } from "../rate-limit/store.ts";
import { clientKey } from "./client-address.ts";
import { isPreflight } from "./cors.ts";
import { type RequestPath, requestContext, withoutTrailingSlash } from "./request-context.ts";

export interface Limit {
  readonly quota: Quota;
  readonly store: RateLimitStore;
}

/** RateLimitStore of its own for each quota, also where two are equal. */
export function createLimits(
  quotas: RateLimits,
  createStore: CreateStore,
): Readonly<Record<keyof RateLimits, Limit>> {
  const limit = (name: keyof RateLimits): Limit => {
    const quota = quotas[name];
    return { quota, store: createStore({ name, windowMs: quota.windowMs }) };
  };
  return {
    default: limit("default"),
    login: limit("login"),
    register: limit("register"),
    passwordChange: limit("passwordChange"),
  };
}

/** Counts in `onRequest`, where no later answer can be missed. Preflights are exempt, and reads of the paths of `isExempt`. */
export function limitEveryRequest(limit: Limit | null, isExempt: (path: string) => boolean) {
  const layer = new Elysia({ name: "rate-limit" }).use(requestContext());
  if (limit === null) return layer;
  const { quota, store } = limit;
  return layer.onRequest(async (context) => {
    const { path } = context as typeof context & RequestPath;
    const { headers } = context.set;
    const isRead = context.request.method === "GET" || context.request.method === "HEAD";
    if ((isRead && isExempt(withoutTrailingSlash(path))) || isPreflight(context.request)) return;
    const { count, resetsAt } = await store.increment(clientKey(context.clientAddress));
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
  const { quota, store } = limit;
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
      async increment(key) {
        const { count, resetsAt } = await store.increment(key);
        return { count, nextReset: new Date(resetsAt), start: resetsAt - quota.windowMs };
      },
      decrement() {},
      reset() {},
      kill() {},
    },
  });
  return (app) => {
    limiter(app);
    parseNoCookies(app);
    return app;
  };
}

/**
 * The limiter names `cookie` among its parameters, for which the router would parse the cookies of every request of the
 * whole app. The cast holds as long as the router keeps what its hooks read in `inference`.
 */
function parseNoCookies(app: AnyElysia): void {
  (app as unknown as { readonly inference: { cookie: boolean } }).inference.cookie = false;
}

/** The same answer as any other 429; the limiter adds the headers that tell when to come back. */
function refusal(quota: Quota): Response {
  const { status, detail } = toErrorResponse(new TooManyRequests(quota.text, 0));
  return Response.json({ detail }, { status });
}
