/** Second factors over HTTP: enrolment, logins, attempts, recovery codes and their end. */
import { expect, test } from "bun:test";
import { decodeJwt } from "jose";
import { ORIGIN } from "../../support/authenticator.ts";
import { watchCodeAttempts } from "../../support/code-attempts.ts";
import {
  type Application,
  beginLogin,
  completeLogin,
  createApplication,
  createVerified,
  enrolFactor,
  type FactorOptions,
  factorStateOf,
  mailedCode,
  requestFactor,
  startWithFactors,
} from "../../support/factors.ts";
import { codeBody } from "../../support/identities.ts";
import { eachDatabase, type Service, type TestUser } from "../../support/service.ts";

const tokenOf = (body: unknown) => decodeJwt((body as { access_token: string }).access_token);
const codeOf = ({ body }: { body: unknown }) => (body as { code?: string }).code;
const WRONG = "000000";

/** A code that is wrong now and in all steps that the service accepts. */
const wrongCode = ({ at }: Application): string => ([-1, 0, 1, 2].map(at).includes(WRONG) ? "000001" : WRONG);

const failures = async ({ sql }: Service, { id }: TestUser): Promise<number> =>
  Number(
    (await sql<{ failures: number }>(`select failures from factors where user_id = ${id}`))[0]?.failures,
  );

/** The events of second factors, without repetitions, in the order in which they were first logged. */
async function eventsOf(service: Service): Promise<unknown[]> {
  await service.request("/healthz");
  const events = service.log.map(({ event }) => String(event));
  return [...new Set(events.filter((event) => event.includes("factor")))];
}

eachDatabase((start) => {
  test("a user enrols with the application and the mailbox; then every login needs a code, which works once", async () => {
    await using service = await startWithFactors({}, start);
    const user = await enrolFactor(service, await createVerified(service));
    expect(user.recoveryCodes).toHaveLength(8);
    expect(tokenOf({ access_token: user.token })).toMatchObject({ acr: "2fa", amr: ["pwd", "otp", "mfa"] });
    const { token } = user;
    (await service.call("GET", "/auth/me", { token })).expect(200);
    const state = await beginLogin(service, user);
    expect(codeOf(await completeLogin(service, state, wrongCode(user.application)))).toBe(
      "FACTOR_CODE_REJECTED",
    );
    // The enrolment has used this code.
    expect((await completeLogin(service, state, user.application.at(0))).status).toBe(401);
    const code = user.application.at(1);
    const uses = await Promise.all(Array.from({ length: 3 }, () => completeLogin(service, state, code)));
    expect(uses.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
    const { body } = uses.find(({ status }) => status === 200) ?? {};
    expect(tokenOf(body)).toMatchObject({ acr: "2fa", amr: ["pwd", "otp", "mfa"] });
    expect(tokenOf(body).auth_time).toBeNumber();
    // A code of the step before, after a later one.
    expect((await completeLogin(service, state, user.application.at(0))).status).toBe(401);
  });

  test("tokens of before the enrolment, and those without a second factor, end", async () => {
    await using service = await startWithFactors({}, start);
    const user = await createVerified(service);
    const { token } = user;
    expect(tokenOf({ access_token: token })).toMatchObject({ acr: "1fa", amr: ["pwd"] });
    await enrolFactor(service, user);
    expect(codeOf(await service.call("GET", "/auth/me", { token }))).toBe("INVALID_TOKEN");
    await service.sql(`update users set token_version = 0 where id = ${user.id}`);
    expect(codeOf(await service.call("GET", "/auth/me", { token }))).toBe("LOGIN_REQUIRED");
  });

  test("parallel wrong codes are counted exactly and compared only while attempts are left; a recovery code still works", async () => {
    await using service = await startWithFactors({}, start);
    const user = await enrolFactor(service, await createVerified(service));
    const state = await beginLogin(service, user);
    const guesses = Array.from({ length: 40 }, () =>
      completeLogin(service, state, wrongCode(user.application)),
    );
    const statuses = (await Promise.all(guesses)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(5);
    expect(statuses.filter((status) => status === 429)).toHaveLength(35);
    expect(await failures(service, user)).toBe(5);
    const limited = await completeLogin(service, state, user.application.at(1));
    expect(limited.status).toBe(429);
    expect(Number(limited.headers.get("retry-after"))).toBeWithin(30, 61);
    const kinds = await service.sql<{ kind: string }>("select kind from outbox where kind like 'factor-f%'");
    expect(kinds).toHaveLength(1);
    await service.sql("update factors set failures = 100");
    expect(codeOf(await completeLogin(service, state, user.application.at(1)))).toBe("FACTOR_LOCKED");
    const [recoveryCode = ""] = user.recoveryCodes;
    const typed = recoveryCode.toUpperCase().replaceAll(/(.{6})/g, "$1-");
    const recovered = await Promise.all([
      completeLogin(service, state, typed),
      completeLogin(service, state, recoveryCode),
    ]);
    expect(recovered.map(({ status }) => status).sort()).toEqual([200, 401]);
    // Only a code of the application, a new factor or an operator ends the count.
    expect(await failures(service, user)).toBe(100);
    expect(await eventsOf(service)).toEqual([
      ...["factor.created", "login.factor_required", "factor.rejected", "factor.locked"],
      "factor.recovery_code_used",
    ]);
  });

  test("attempts are possible again after a pause, a right code ends the count, a time in the future locks nobody out, and a wrong clock is logged", async () => {
    await using service = await startWithFactors({}, start);
    const user = await enrolFactor(service, await createVerified(service));
    const state = await beginLogin(service, user);
    const failedAt = (count: number, seconds: number) => {
      const time = new Date(Date.now() + seconds * 1000).toISOString();
      return service.sql(`update factors set failures = ${count}, failed_at = '${time}'`);
    };
    for (const [count, pause] of [
      [5, 60],
      [10, 900],
      [20, 3600],
    ] as const) {
      await failedAt(count, 5 - pause);
      expect((await completeLogin(service, state, wrongCode(user.application))).status).toBe(429);
      await failedAt(count, -5 - pause);
      expect((await completeLogin(service, state, wrongCode(user.application))).status).toBe(401);
    }
    await failedAt(20, 120);
    (await completeLogin(service, state, user.application.at(1))).expect(200);
    expect(await failures(service, user)).toBe(0);
    await completeLogin(service, state, user.application.at(-3));
    await service.request("/healthz");
    const rejected = service.log.findLast(({ event }) => event === "factor.rejected");
    expect(rejected?.stepsLate).toBeWithin(3, 6);
  });

  test("wrong current passwords are counted until a login with both factors", async () => {
    const limits = { RATE_LIMIT_LOGIN: "100/minute", RATE_LIMIT_PASSWORD_CHANGE: "100/minute" };
    await using service = await startWithFactors({ env: { RATE_LIMIT_ENABLED: "true", ...limits } }, start);
    const user = await enrolFactor(service, await createVerified(service));
    const change = async (current_password: string) => {
      const body = { username: "renamed", current_password };
      return (await service.call("PATCH", "/auth/me", { token: user.token, body })).status;
    };
    for (let count = 0; count < 10; count++) expect(await change("wrong")).toBe(403);
    const state = await beginLogin(service, user);
    expect(await change(user.password)).toBe(429);
    (await completeLogin(service, state, user.application.at(1))).expect(200);
    expect(await change(user.password)).toBe(200);
  });

  test("a state ends with the password, the tokens and the factor, and is no token", async () => {
    await using service = await startWithFactors({}, start);
    const user = await enrolFactor(service, await createVerified(service));
    const rejected = async (state: string) =>
      codeOf(await completeLogin(service, state, user.application.at(1)));
    for (const change of ["token_version = token_version + 1", "factor_id = 'another'"]) {
      const state = await beginLogin(service, user);
      await service.sql(`update users set ${change} where id = ${user.id}`);
      expect(await rejected(state)).toBe("LOGIN_REQUIRED");
    }
    const state = await beginLogin(service, user);
    expect(await rejected(`${state.slice(0, -43)}${"A".repeat(43)}`)).toBe("LOGIN_REQUIRED");
    expect((await service.call("GET", "/auth/me", { token: state })).status).toBe(401);
    expect(await failures(service, user)).toBe(0);
  });

  test("a thief with token and password cannot enrol without the mailbox, whose code has five attempts", async () => {
    const { seen, wrapDatabase } = watchCodeAttempts();
    await using service = await startWithFactors({ wrapDatabase }, start);
    const user = await createVerified(service);
    const { secret, state } = (await requestFactor(service, user)).expect<FactorOptions>(200);
    const { at } = createApplication(secret);
    const enrol = (email_code: string) =>
      service.call("POST", "/auth/factor", { token: user.token, body: { state, code: at(0), email_code } });
    // Not sent yet.
    expect(codeOf(await enrol("12345678"))).toBe("FACTOR_CODE_INVALID");
    const mailed = await mailedCode(service, user);
    const guess = mailed === "12345678" ? "12345679" : "12345678";
    const guesses = await Promise.all(Array.from({ length: 5 }, () => enrol(guess)));
    expect(guesses.map(({ status }) => status)).toEqual(Array(5).fill(400));
    expect((await enrol(mailed)).status).toBe(400);
    expect(seen).toEqual({ attempts: 7, mostRunning: 1 });
    expect((await service.readUser(user.id)).factorId).toBeNull();
    expect(await service.sql("select * from factors")).toEqual([]);
  });

  test("a replacement, new recovery codes and the removal need the password and a code", async () => {
    await using service = await startWithFactors({}, start);
    const user = await enrolFactor(service, await createVerified(service));
    expect((await requestFactor(service, user)).status).toBe(422);
    expect(codeOf(await requestFactor(service, user, { code: wrongCode(user.application) }))).toBe(
      "FACTOR_CODE_INCORRECT",
    );
    const prove = (path: string, token: string, code: string | undefined, password: string = user.password) =>
      service.call("POST", path, { token, body: { current_password: password, code } });
    const codes = await prove("/auth/factor/recovery-codes", user.token, user.recoveryCodes[0]);
    const { recovery_codes } = codes.expect<{ recovery_codes: string[] }>(200);
    const mails = await service.sql("select id from outbox where kind = 'factor'");
    expect(mails).toHaveLength(2);
    const [, second = ""] = user.recoveryCodes;
    const wrong = await prove("/auth/factor/removal", user.token, recovery_codes[1], "wrong password");
    expect(codeOf(wrong)).toBe("CURRENT_PASSWORD_INCORRECT");
    expect(codeOf(await prove("/auth/factor/removal", user.token, second))).toBe("FACTOR_CODE_INCORRECT");
    const verify = (emailVerified: boolean) => service.database.users.update(user.id, { emailVerified });
    await verify(false);
    expect(codeOf(await requestFactor(service, user, { code: recovery_codes[0] }))).toBe(
      "EMAIL_NOT_VERIFIED",
    );
    await verify(true);
    // The refusal has not used the code.
    const replaced = await enrolFactor(service, user, { code: recovery_codes[0] });
    expect(replaced.recoveryCodes).not.toContain(recovery_codes[1]);
    expect((await prove("/auth/factor/removal", replaced.token, recovery_codes[1])).status).toBe(403);
    (await prove("/auth/factor/removal", replaced.token, replaced.recoveryCodes[0])).expect(204);
    expect((await service.call("GET", "/auth/me", { token: replaced.token })).status).toBe(401);
    const events = await eventsOf(service);
    expect(events).toEqual(expect.arrayContaining(["factor.recovery_codes_replaced", "factor.removed"]));
    await service.login(user);
  });

  test("changes of the account and its deletion need a recent login of a user with a second factor", async () => {
    const env = { AUTH_RENEWAL_DAYS: "30", PASSKEY_ORIGINS: ORIGIN };
    await using service = await startWithFactors({ env }, start);
    const user = await createVerified(service);
    const old = await enrolFactor(service, user);
    const now = Date.now;
    try {
      Date.now = () => now() + 6 * 60_000;
      const { token } = old;
      const body = { password: "another good password", current_password: user.password };
      expect(codeOf(await service.call("PATCH", "/auth/me", { token, body }))).toBe("RECENT_LOGIN_REQUIRED");
      expect(codeOf(await service.call("DELETE", "/auth/me", { token }))).toBe("RECENT_LOGIN_REQUIRED");
      // What is missing is said first: a new login alone would not help.
      expect((await service.call("POST", "/auth/passkeys/options", { token, body: {} })).status).toBe(422);
      const renewed = await service.call("POST", "/auth/tokens", { token });
      expect(tokenOf(renewed.body)).toMatchObject({ acr: "2fa", amr: ["pwd", "otp", "mfa"] });
      // The clock of another replica is behind.
      Date.now = () => now() - 20_000;
      (await service.call("PATCH", "/auth/me", { token, body })).expect(200);
    } finally {
      Date.now = now;
    }
  });

  test("a user with a second factor is never taken over by a mailed code, unless it was enrolled without a verified e-mail", async () => {
    await using service = await startWithFactors({ env: { AUTH_EMAIL_LOGIN: "true" } }, start);
    const user = await enrolFactor(service, await createVerified(service));
    await service.sql(`update users set email_verified = false where id = ${user.id}`);
    const logIn = async () =>
      service.call("POST", "/auth/login/email", { body: await codeBody(service, user) });
    const before = await service.readUser(user.id);
    const state = factorStateOf(await logIn());
    expect(await service.readUser(user.id)).toEqual({ ...before, loginCodeRevision: 1 });
    await service.sql("update factors set failures = 4");
    const { body } = await completeLogin(service, state, user.application.at(1));
    // The fifth attempt was right.
    expect(await service.sql("select * from outbox where kind = 'factor-failures'")).toEqual([]);
    expect(tokenOf(body)).toMatchObject({ acr: "2fa", amr: ["otp", "mfa"] });
    expect(await service.readUser(user.id)).toMatchObject({
      ...{ emailVerified: true, hashedPassword: before.hashedPassword },
    });
    await service.sql(`update users set email_verified = false where id = ${user.id}`);
    await service.sql("update factors set was_verified = false");
    (await logIn()).expect(200);
    expect((await service.readUser(user.id)).factorId).toBeNull();
    expect(await service.sql("select * from factors")).toEqual([]);
  });

  test("a wrong password has the same response with and without a second factor", async () => {
    await using service = await startWithFactors({}, start);
    const [plain, protectedUser] = [await createVerified(service), await createVerified(service)];
    await enrolFactor(service, protectedUser);
    const [one, other] = await Promise.all(
      [plain, protectedUser].map(({ email }) =>
        service.call("POST", "/auth/login", { body: { email, password: "wrong" } }),
      ),
    );
    expect(one?.body).toEqual(other?.body);
  });
});

test("codes that prove the owner count, per client address, against the limit of logins with a code", async () => {
  const limits = { RATE_LIMIT_LOGIN: "2/minute", RATE_LIMIT_PASSWORD_CHANGE: "100/minute" };
  await using service = await startWithFactors({ env: { RATE_LIMIT_ENABLED: "true", ...limits } });
  const { token, password, application } = await enrolFactor(service, await createVerified(service));
  const body = { current_password: password, code: wrongCode(application) };
  const statuses: number[] = [];
  for (const path of ["removal", "recovery-codes", "options"])
    statuses.push((await service.call("POST", `/auth/factor/${path}`, { token, body })).status);
  expect(statuses).toEqual([403, 403, 429]);
});
