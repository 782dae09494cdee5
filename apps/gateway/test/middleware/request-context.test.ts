/**
 * The router decides by reading the text of every hook what it parses before any of them runs. One careless hook, or one of a
 * plugin, and each request of each route pays for its cookies, headers and body, which may then fail where none was asked for.
 */
import { expect, test } from "bun:test";
import { createHasher, kernels } from "@latchkey/hashing";
import pino from "pino";
import { createApp } from "../../src/app.ts";
import { parseConfig } from "../../src/config.ts";
import { openLibsqlFile, SECRET_KEY } from "../support/service.ts";

const hasInference = (app: object): app is { readonly inference: Readonly<Record<string, boolean>> } =>
  "inference" in app;

test("nothing of a request is parsed for the layers' sake", async () => {
  await using scratch = await openLibsqlFile();
  await using hasher = createHasher({ workers: 1, kernel: "portable" });
  const config = parseConfig(
    { NODE_ENV: "test", RATE_LIMIT_ENABLED: "true" },
    { kernels: kernels().map(({ name }) => name), isTerminal: false, readFile: () => "" },
  );
  const app: object = createApp({
    config,
    secretKey: SECRET_KEY,
    database: scratch.database,
    hasher,
    logger: pino({ level: "silent" }),
    isStopping: () => false,
  });
  if (!hasInference(app)) throw new Error("The router no longer says what it infers");
  expect(app.inference).toMatchObject({ body: false, cookie: false, headers: false, query: false });
});
