/** A rejected login does not reveal whether the user exists: the responses are identical. */
import { expect, test } from "bun:test";
import { createMemoryStore } from "../../src/rate-limit/store.ts";
import { startService } from "../support/service.ts";
import { jsonRequest } from "../support/wire.ts";

test("an unknown e-mail, a wrong password and an inactive user return the same bytes, also when they are limited per e-mail", async () => {
  // The budgets do not refill during the test.
  const { tokenBucket } = createMemoryStore(() => 0);
  await using service = await startService({
    env: { RATE_LIMIT_ENABLED: "true", RATE_LIMIT_LOGIN: "100/minute", TRUST_PROXY: "1" },
    store: { ...createMemoryStore(), tokenBucket },
  });
  const active = await service.register();
  const inactive = await service.register();
  await service.sql(`update users set is_active = false where id = ${inactive.user.id}`);
  const responses: string[] = [];
  for (const [index, email] of ["nobody@example.org", active.email.toUpperCase(), inactive.email].entries()) {
    const text = JSON.stringify({ email, password: "not the password" });
    for (let attempt = 1; attempt <= 11; attempt++) {
      // Each address has its own remaining quota.
      const headers = [
        "Connection: close",
        `X-Forwarded-For: 192.0.${index}.${attempt}`,
        "X-Request-ID: same",
      ];
      const response = await service.raw(jsonRequest("POST /auth/login", text, ...headers));
      responses.push(response.replace(/^Date: .*\r\n/im, ""));
    }
  }
  const [failed = "", ...others] = new Set(responses);
  expect(failed).toStartWith("HTTP/1.1 401 ");
  expect(others).toEqual([expect.stringMatching(/^HTTP\/1\.1 429 [\s\S]+\r\nRetry-After: 900\r\n/)]);
  expect(responses.map((response) => response === failed)).toEqual(
    Array.from(responses, (_, index) => index % 11 !== 10),
  );
});
