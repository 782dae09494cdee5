/** Internationalized domains: an address belongs to one user, in whichever form a browser or an earlier release wrote it. */
import { expect, test } from "bun:test";
import { eachDatabase, newCredentials } from "../../support/service.ts";

const UNICODE = "ada@bücher.example";
const ASCII = "ada@xn--bcher-kva.example";

eachDatabase((startService) => {
  test("an address in Unicode is stored in ASCII, and both forms log in and are taken", async () => {
    await using service = await startService();
    const { user, password } = await service.register({ email: " Ada@B\u00dcCHER.example" });
    expect(user.email).toBe(ASCII);
    for (const email of [UNICODE, ASCII]) {
      expect(await service.login({ email, password })).toBeString();
      const body = { ...newCredentials(), email };
      const { status, body: error } = await service.call("POST", "/auth/register", { body });
      expect([status, error]).toMatchObject([409, { field: "email" }]);
    }
  });

  test("a user whom an earlier release stored in Unicode logs in, gets resets and keeps the address", async () => {
    await using service = await startService();
    const { user, password } = await service.register();
    await service.sql(`update users set email = '${UNICODE}' where id = ${user.id}`);
    for (const email of [UNICODE, ASCII]) {
      expect(await service.login({ email, password })).toBeString();
      const body = { ...newCredentials(), email };
      expect((await service.call("POST", "/auth/register", { body })).status).toBe(409);
      expect((await service.call("POST", "/auth/password-reset", { body: { email } })).status).toBe(202);
    }
    const resets = `select id from outbox where kind = 'reset' and user_id = ${user.id}`;
    expect(await service.sql(resets)).toHaveLength(2);
  });

  test("attempts for both forms use one budget", async () => {
    const env = { RATE_LIMIT_ENABLED: "true", RATE_LIMIT_LOGIN: "1000/hour" };
    await using service = await startService({ env });
    for (let attempt = 0; attempt < 10; attempt++) {
      const email = attempt % 2 === 0 ? UNICODE : ASCII;
      await service.call("POST", "/auth/login", { body: { email, password: "x" } });
    }
    const { status } = await service.call("POST", "/auth/login", { body: { email: UNICODE, password: "x" } });
    expect(status).toBe(429);
  });
});
