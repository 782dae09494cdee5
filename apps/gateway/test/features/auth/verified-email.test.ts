/** AUTH_REQUIRE_VERIFIED_EMAIL: who can log in and renew, and what is mailed. */
import { expect, test } from "bun:test";
import { privateKeyVariables } from "@latchkey/testing/keys";
import { signOneTimeToken } from "../../support/one-time-token.ts";
import { eachDatabase, startService } from "../../support/service.ts";

const VERIFIED = { AUTH_REQUIRE_VERIFIED_EMAIL: "true", AUTH_RENEWAL_DAYS: "7" };

eachDatabase((start) => {
  test("a login with an unverified e-mail is rejected only after a correct password, and mails a verification", async () => {
    await using service = await start({ env: VERIFIED });
    const { email, password, user } = await service.register();
    await service.sql("delete from outbox");
    const login = async (password: string) => {
      const { status, body } = await service.call("POST", "/auth/login", { body: { email, password } });
      return [status, (body as { code?: string }).code];
    };
    expect(await login("wrong")).toEqual([401, "INVALID_CREDENTIALS"]);
    expect(await service.sql("select kind from outbox")).toEqual([]);
    expect(await login(password)).toEqual([403, "EMAIL_NOT_VERIFIED"]);
    expect(await service.sql<object>("select kind from outbox")).toEqual([{ kind: "verification" }]);
    const token = signOneTimeToken("verification", await service.readUser(user.id));
    await service.call("POST", "/auth/email-verification/confirm", { body: { token } });
    const renew = async (token: string) => (await service.call("POST", "/auth/tokens", { token })).status;
    const access = await service.login({ email, password });
    expect(await renew(access)).toBe(200);
    expect(service.log.map(({ event }) => event)).toContain("login.unverified");
    await service.sql("update users set email_verified = false");
    expect(await renew(access)).toBe(403);
  });
});

test("where other services verify tokens, an inactive user without a verified e-mail gets INACTIVE_USER", async () => {
  await using service = await startService({ env: { ...VERIFIED, ...privateKeyVariables("EdDSA") } });
  const { email, password } = await service.register();
  await service.sql("update users set is_active = false");
  const { body } = await service.call("POST", "/auth/login", { body: { email, password } });
  expect(body).toMatchObject({ code: "INACTIVE_USER" });
});
