/**
 * The router reads the source text of all hooks to decide what to parse before it runs them. A single careless hook, also of a
 * plugin, makes it parse cookies, headers and body of every request, which is slow and can fail.
 */
import { expect, test } from "bun:test";
import { shareService } from "../support/service.ts";

const shared = shareService({ env: { RATE_LIMIT_ENABLED: "true" } });

const hasInference = (app: object): app is { readonly inference: Readonly<Record<string, boolean>> } =>
  "inference" in app;

test("no middleware makes the router parse body, cookies, headers or query of every request", () => {
  const app: object = shared().app;
  if (!hasInference(app)) throw new Error("The router no longer exposes what it infers");
  const { body, cookie, headers, query, server } = app.inference;
  expect([body, cookie, headers, query, server]).toEqual([false, false, false, false, false]);
});

test("no middleware makes the router wait before it calls the route", () => {
  // One asynchronous hook makes this function asynchronous.
  expect(shared().app.fetch.constructor.name).toBe("Function");
});

test("a route that waits for nothing responds in the turn in which its request arrived", () => {
  const response: unknown = shared().app.fetch(new Request("http://localhost/healthz"));
  expect(response).toBeInstanceOf(Response);
});
