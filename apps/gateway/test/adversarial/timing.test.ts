/** A rejected login does not reveal whether the user exists: the responses are identical. */
import { expect, test } from "bun:test";
import { createMemoryBudgetStore } from "../../src/rate-limit/memory-budget-store.ts";
import { createClock } from "../support/clock.ts";
import { type Service, startService } from "../support/service.ts";

test("an unknown e-mail, a wrong password and an inactive user return the same status, headers and body", async () => {
  await using service = await startService({
    env: { RATE_LIMIT_ENABLED: "true", RATE_LIMIT_LOGIN: "100/minute", TRUST_PROXY: "1" },
  });
  const active = await service.register();
  const inactive = await service.register();
  await service.sql(`update users set is_active = false where id = ${inactive.user.id}`);
  const emails = ["nobody@example.org", active.email, inactive.email, active.email.toUpperCase()];
  const failed = await Promise.all(emails.map((email, index) => logIn(service, email, `192.0.2.${index}`)));
  expect(failed[0]).toStartWith("HTTP/1.1 401 ");
  expect(new Set(failed).size).toBe(1);
});

test("a login that is limited per e-mail returns the same bytes for unknown e-mails, users and inactive users", async () => {
  const { now } = createClock();
  await using service = await startService({
    env: { RATE_LIMIT_ENABLED: "true", RATE_LIMIT_LOGIN: "100/minute", TRUST_PROXY: "1" },
    createBudgetStore: (budget) => createMemoryBudgetStore({ ...budget, now }),
  });
  const active = await service.register();
  const inactive = await service.register();
  await service.sql(`update users set is_active = false where id = ${inactive.user.id}`);
  const limited: string[] = [];
  for (const [index, email] of ["nobody@example.org", active.email, inactive.email].entries()) {
    for (let attempt = 0; attempt < 10; attempt++)
      expect(await logIn(service, email, `198.51.100.${attempt}`)).toStartWith("HTTP/1.1 401 ");
    limited.push(await logIn(service, email, `192.0.2.${index}`));
  }
  expect(limited[0]).toStartWith("HTTP/1.1 429 ");
  expect(limited[0]).toContain("\r\nRetry-After: 900\r\n");
  expect(new Set(limited).size).toBe(1);
});

/** Returns the response to a wrong password without its date. Each address has its own remaining quota. */
async function logIn(service: Service, email: string, address: string): Promise<string> {
  const body = JSON.stringify({ email, password: "not the password" });
  const head = [
    "POST /auth/login HTTP/1.1",
    "Host: x",
    "Connection: close",
    "Content-Type: application/json",
    `X-Forwarded-For: ${address}`,
    "X-Request-ID: same",
    `Content-Length: ${body.length}`,
  ];
  const response = await service.raw([...head, "", body].join("\r\n"));
  return response.replace(/^Date: .*\r\n/im, "");
}
