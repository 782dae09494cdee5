/**
 * The router reads the source text of all hooks to decide what to parse before it runs them. A single careless hook, also of a
 * plugin, makes it parse cookies, headers and body of every request, which is slow and can fail.
 */
import { expect, test } from "bun:test";
import { createHasher, kernels } from "@latchkey/hashing";
import pino from "pino";
import { createApp } from "../../src/app.ts";
import { parseConfig } from "../../src/config.ts";
import { importTokenKeys } from "../../src/tokens/token-keys.ts";
import { openLibsqlFile, SECRET_KEY } from "../support/service.ts";

const hasInference = (app: object): app is { readonly inference: Readonly<Record<string, boolean>> } =>
  "inference" in app;

async function openApp() {
  await using stack = new AsyncDisposableStack();
  const { database } = stack.use(await openLibsqlFile());
  const hasher = stack.use(createHasher({ workers: 1, kernel: "portable" }));
  const config = parseConfig(
    { NODE_ENV: "test", RATE_LIMIT_ENABLED: "true" },
    { kernels: kernels().map(({ name }) => name), isTerminal: false, readFile: () => "" },
  );
  const app = createApp({
    config,
    keys: await importTokenKeys({ ...config.auth, openSecretKey: () => SECRET_KEY }),
    database,
    hasher,
    logger: pino({ level: "silent" }),
    isStopping: () => false,
  });
  const resources = stack.move();
  return { app, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

test("no middleware makes the router parse body, cookies, headers or query of every request", async () => {
  await using opened = await openApp();
  const app: object = opened.app;
  if (!hasInference(app)) throw new Error("The router no longer exposes what it infers");
  expect(app.inference).toMatchObject({
    body: false,
    cookie: false,
    headers: false,
    query: false,
    server: false,
  });
});

test("no middleware makes the router wait before it calls the route", async () => {
  await using opened = await openApp();
  // One asynchronous hook makes this function asynchronous.
  expect(opened.app.fetch.constructor.name).toBe("Function");
});

test("a route that waits for nothing responds in the turn in which its request arrived", async () => {
  await using opened = await openApp();
  const response: unknown = opened.app.fetch(new Request("http://localhost/healthz"));
  expect(response).toBeInstanceOf(Response);
});
