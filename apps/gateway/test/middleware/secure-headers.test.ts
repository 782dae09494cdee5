/** The security header that depends on the environment; `app.test.ts` checks the others on every kind of response. */
import { expect, test } from "bun:test";
import { startService } from "../support/service.ts";

test.each([
  ["production", "max-age=31536000; includeSubDomains"],
  ["development", null],
])("in %s, HSTS is %p", async (environment, expected) => {
  await using service = await startService({ env: { NODE_ENV: environment } });
  expect((await service.request("/nowhere")).headers.get("strict-transport-security")).toBe(expected);
});
