/** A failed login does not reveal whether the user exists: the responses are identical. */
import { expect, test } from "bun:test";
import { startService } from "../support/service.ts";

test("an unknown e-mail, a wrong password and an inactive user return the same status, headers and body", async () => {
  await using service = await startService({
    env: { RATE_LIMIT_ENABLED: "true", RATE_LIMIT_LOGIN: "100/minute", TRUST_PROXY: "1" },
  });
  const active = await service.register();
  const inactive = await service.register();
  await service.sql(`update users set is_active = false where id = ${inactive.user.id}`);
  const emails = ["nobody@example.org", active.email, inactive.email, active.email.toUpperCase()];
  const responses: string[] = [];
  for (const [index, email] of emails.entries()) {
    const body = JSON.stringify({ email, password: "not the password" });
    const head = [
      "POST /auth/login HTTP/1.1",
      "Host: x",
      "Connection: close",
      "Content-Type: application/json",
    ];
    // Each is sent by a different client, so that all have the same remaining quota.
    const own = [`X-Forwarded-For: 192.0.2.${index}`, "X-Request-ID: same", `Content-Length: ${body.length}`];
    const response = await service.raw([...head, ...own, "", body].join("\r\n"));
    responses.push(response.replace(/^Date: .*\r\n/im, ""));
  }
  expect(responses[0]).toStartWith("HTTP/1.1 401 ");
  expect(new Set(responses).size).toBe(1);
});
