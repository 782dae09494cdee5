/** Log lines have the bytes of pino, and none contains a secret, regardless of the error and the log level. */
import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { createKeyPair, SECRET_KEY } from "@latchkey/testing/keys";
import { assertNoSecrets, secretsIn } from "@latchkey/testing/log-guard";
import pino from "pino";
import { LOG_SERIALIZERS, withPreparedLines } from "../../src/observability/logger.ts";
import type { CallOptions } from "../support/client.ts";
import { fetchDocument, operationsOf } from "../support/openapi/document.ts";
import { prepareSuccess } from "../support/openapi/requests.ts";
import { startService } from "../support/service.ts";

const PASSWORD = "correct horse battery staple";
const LINK_TOKEN = `${Buffer.from('["reset",1,1800000000000,""]').toString("base64url")}.${"A".repeat(43)}`;
const HASH = `${"0123456789abcdef".repeat(2)}$${createHash("sha256").update("x").digest("hex")}`;

test("a prepared line has the bytes of one that pino formats, with all unprintable characters escaped", () => {
  const error = new TypeError("a bug", { cause: { message: "its cause" } });
  const odd = Object.assign(new Error(), { name: 1n, message: 2n, code: 3n });
  const linesOf = (prepare: typeof withPreparedLines): string => {
    let lines = "";
    const time = () => ',"time":"2026-01-02T03:04:05.678Z"';
    const formatters = { level: (label: string) => ({ level: label }) };
    const options = { base: null, timestamp: time, serializers: LOG_SERIALIZERS, formatters };
    const logger = prepare(pino(options, { write: (line) => (lines += line) }));
    logger.info("only a message");
    logger.warn(
      { text: '\u2028 "\n\\ é \ud800 \0', none: undefined, number: 0.1, nan: Number.NaN },
      '"quoted"',
    );
    logger.error({ err: error, list: [1, { nested: null }], flag: false }, "failed");
    logger.fatal({ err: undefined, id: 1 });
    logger.fatal({ err: odd }, "uncaughtException");
    return lines;
  };
  const expected = linesOf((logger) => logger).replaceAll("\u2028", "\\u2028");
  expect(linesOf(withPreparedLines)).toBe(expected);
});

test("the check that every test runs on the log detects each kind of secret", () => {
  const token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl";
  const keys = (["ES256", "EdDSA"] as const).map((algorithm) => createKeyPair(algorithm).privatePem);
  const contents = keys.map((pem) => pem.split("\n")[1] ?? "");
  const secrets = [PASSWORD, HASH, HASH.slice(33), token, SECRET_KEY, ...keys, ...contents];
  for (const secret of [...secrets, "postgres://u:p4ss@host/db", "smtp://u:p4ss@host", LINK_TOKEN]) {
    expect([secret, secretsIn(`{"msg":"x ${secret} y"}`).length > 0]).toEqual([secret, true]);
    expect(() => assertNoSecrets([{ err: { message: secret } }])).toThrow("The log contains");
  }
  expect(() => assertNoSecrets([{ request_id: Bun.randomUUIDv7(), route: "/auth/login" }])).not.toThrow();
});

test("no secret is logged when statements with hashes and e-mail addresses fail", async () => {
  await using service = await startService({ env: { LOG_LEVEL: "trace" } });
  const requests: [string, string, CallOptions][] = [];
  for (const operation of operationsOf(await fetchDocument(service))) {
    const { id, token, body } = await prepareSuccess(service, operation);
    const query = `?token=${LINK_TOKEN}&cursor=${token}`;
    requests.push([operation.method, operation.path.replace("{id}", String(id)) + query, { token, body }]);
  }
  await service.sql("alter table users rename column hashed_password to moved");
  await service.sql("alter table todos rename column title to moved");
  for (const request of requests) await service.call(...request);
  await service.request("/healthz");
  const failed = service.log.filter(({ err }) => err !== undefined);
  expect(failed.length).toBeGreaterThan(10);
  for (const { err, request_id } of failed) {
    expect(err).toMatchObject({ code: "DATABASE_UNAVAILABLE", message: expect.any(String) });
    expect(Object.keys(err as object).sort()).toEqual(["code", "message", "type"]);
    expect(request_id).toMatch(/^[\w-]{36}$/);
  }
  assertNoSecrets(service.log);
  const logged = JSON.stringify(service.log);
  for (const parameter of ["@example", "Buy milk", "insert into", "select "])
    expect(logged).not.toContain(parameter);
});
