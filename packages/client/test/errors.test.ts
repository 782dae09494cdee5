/** The members of the two errors that depend on the response, or on the request without one. */
import { expect, test } from "bun:test";
import { createClient } from "../src/index.ts";
import { ADA, errorOf } from "./support/service.ts";

const clientOf = (fetch: () => Promise<Response>) =>
  createClient({ baseUrl: "http://service.example", retries: 0, fetch });

test.each([
  ["email", "email"],
  ["username", "username"],
  [undefined, undefined],
  [{}, undefined],
])("the field %p of a 409 is the field %p of the error", async (field, expected) => {
  const body = { detail: "taken", code: "USER_ALREADY_EXISTS", field };
  const error = await errorOf(clientOf(async () => Response.json(body, { status: 409 })).register(ADA));
  expect(error).toMatchObject({ status: 409, code: "USER_ALREADY_EXISTS" });
  expect(error).toHaveProperty("field", expected);
});

test("only a registration that may have been executed states that the account may exist already", async () => {
  const lost = clientOf(() => Promise.reject(new TypeError("lost")));
  const hint = /has no response: lost; the account may exist already$/;
  expect(await errorOf(lost.register(ADA))).toMatchObject({ message: expect.stringMatching(hint) });
  expect(await errorOf(lost.login(ADA))).toMatchObject({ message: expect.stringMatching(/: lost$/) });
  const refused = clientOf(() =>
    Promise.reject(Object.assign(new Error("refused"), { code: "ECONNREFUSED" })),
  );
  expect(await errorOf(refused.register(ADA))).toMatchObject({
    message: expect.stringMatching(/: refused$/),
  });
});

test.each([
  ["7", 7],
  ["1.5", 2],
  ["0", 0],
  ["-1", undefined],
  ["5, 5", undefined],
  ["1e3", undefined],
  ["soon", undefined],
  ["Thu, 01 Jan 1970 00:00:00 GMT", 0],
])("Retry-After: %s is %p seconds", async (value, expected) => {
  const limited = async () => Response.json({}, { status: 429, headers: { "retry-after": value } });
  const error = await errorOf(clientOf(limited).getTodo(1));
  expect(error).toHaveProperty("retryAfterSeconds", expected);
});
