/** Links of mails over HTTP, from the request to the confirmation. See `email-change.test.ts` for changes of e-mail. */
import { describe, expect, test } from "bun:test";
import type { User } from "@latchkey/contracts";
import { noPassword } from "@latchkey/database";
import type { Purpose } from "../../../src/tokens/one-time-tokens.ts";
import { LINK_ENDS, type LinkEnd } from "../../support/link-ends.ts";
import { beginEmailChange, signOneTimeToken } from "../../support/one-time-token.ts";
import {
  EVERY_FEATURE,
  eachDatabase,
  type Service,
  shareService,
  startService,
  type TestUser,
} from "../../support/service.ts";

const PASSWORD = "a new long passphrase";
const INVALID = { detail: "Invalid or expired link", code: "ONE_TIME_TOKEN_INVALID" };
const PATHS = {
  reset: "password-reset/confirm",
  verification: "email-verification/confirm",
  "email-change-approval": "email-change/approve",
  "email-change": "email-change/confirm",
} as const;

const requestReset = ({ call }: Service, email: string) =>
  call("POST", "/auth/password-reset", { body: { email } });
const requestChange = ({ call }: Service, { token, password }: TestUser, email: string) =>
  call("POST", "/auth/email-change", { token, body: { email, current_password: password } });
const confirm = ({ call }: Service, purpose: Purpose, token: string, password = PASSWORD) =>
  call("POST", `/auth/${PATHS[purpose]}`, { body: { token, password } });

const sign = async (service: Service, purpose: Purpose, id: number) => {
  const user = await service.readUser(id);
  const isChange = purpose.startsWith("email-change") && user.pendingEmail === null;
  return signOneTimeToken(
    purpose,
    isChange ? await beginEmailChange(service, id, `new${id}@example.org`) : user,
  );
};
const PURPOSES = ["reset", "verification", "email-change-approval", "email-change"] as const;
/** One for each purpose, in their order. */
async function signAll(service: Service, id: number) {
  const links: string[] = [];
  for (const purpose of PURPOSES) links.push(await sign(service, purpose, id));
  return links;
}

const kindsOf = async (service: Service): Promise<string[]> =>
  (await service.sql<{ kind: string }>("select kind from outbox order by id")).map(({ kind }) => kind);
const statusOfMe = async ({ call }: Service, token: string) =>
  (await call("GET", "/auth/me", { token })).status;

eachDatabase((start) => {
  test("a reset sets the password, revokes all tokens, replaces the networks, verifies the e-mail and notifies", async () => {
    await using service = await start({ env: { RATE_LIMIT_ENABLED: "true" } });
    const { id, email, password, token } = await service.createUser();
    await service.database.users.storeNetwork(id, "elsewhere");
    expect((await requestReset(service, ` ${email.toUpperCase()}`)).status).toBe(202);
    expect(await kindsOf(service)).toEqual(["verification", "reset"]);
    const reset = await confirm(service, "reset", await sign(service, "reset", id));
    expect([reset.status, reset.text]).toEqual([204, ""]);
    expect(await kindsOf(service)).toEqual(["verification", "password"]);
    expect(await statusOfMe(service, token)).toBe(401);
    expect((await service.call("POST", "/auth/login", { body: { email, password } })).status).toBe(401);
    expect(await service.sql("select network_digest from user_networks")).toEqual([
      { network_digest: expect.not.stringMatching("elsewhere") },
    ]);
    const renewed = await service.login({ email, password: PASSWORD });
    const me = await service.call("GET", "/auth/me", { token: renewed });
    expect(me.expect<User>(200).email_verified).toBe(true);
  });

  test("an invitation outlives blocking and changes of roles until a password or another e-mail ends it, whichever release mailed it", async () => {
    await using service = await start();
    const { users } = service.database;
    const accept = async (token: string) => (await confirm(service, "reset", token)).status;
    const invite = async (name: string) => {
      const { id } = await users.create({
        ...{ email: `${name}@example.org`, username: name, roles: ["a"], ...noPassword() },
      });
      const user = await service.readUser(id);
      return { id, link: signOneTimeToken("invitation", user), earlier: signOneTimeToken("reset", user) };
    };
    const [ada, bob, eve] = [await invite("ada"), await invite("bob"), await invite("eve")];
    await users.changeAsOperator(ada.id, { roles: [] });
    await users.changeAsOperator(ada.id, { isActive: false });
    expect(await accept(ada.link)).toBe(400);
    await users.changeAsOperator(ada.id, { isActive: true });
    expect(await accept(ada.earlier)).toBe(400);
    expect(await accept(ada.link)).toBe(204);
    expect(await accept(ada.link)).toBe(400);
    expect(await accept(bob.earlier)).toBe(204);
    expect(await accept(bob.link)).toBe(400);
    await service.sql(`update users set email = 'new@example.org' where id = ${eve.id}`);
    expect(await accept(eve.link)).toBe(400);
    // A link that was mailed while the user set a password.
    expect(await accept(signOneTimeToken("invitation", await service.readUser(ada.id)))).toBe(400);
  });
});

test("a verification whose user gets another e-mail meanwhile does not verify that one", async () => {
  await using service = await startService({
    wrapDatabase: ({ users }) => ({
      users: {
        findById: async (id) => {
          const user = await users.findById(id);
          if (user) await users.changeAsOperator(id, { email: "new@example.org" });
          return user;
        },
      },
    }),
  });
  const { user } = await service.register();
  const link = signOneTimeToken("verification", await service.readUser(user.id));
  expect((await confirm(service, "verification", link)).body).toEqual(INVALID);
  expect(await service.readUser(user.id)).toMatchObject({ email: "new@example.org", emailVerified: false });
});

describe("with one service", () => {
  const service = shareService({ env: EVERY_FEATURE });

  test("a verification link works repeatedly until it expires, and requests stop when the e-mail is verified", async () => {
    const { id, token } = await service().createUser();
    const ask = () => service().call("POST", "/auth/email-verification", { token });
    expect((await ask()).status).toBe(202);
    const rows = () => service().sql(`select id from outbox where user_id = ${id}`);
    expect(await rows()).toHaveLength(2);
    const link = await sign(service(), "verification", id);
    for (let use = 0; use < 2; use++)
      expect((await confirm(service(), "verification", link)).status).toBe(204);
    expect((await service().readUser(id)).emailVerified).toBe(true);
    expect([(await ask()).status, (await rows()).length]).toEqual([202, 2]);
    await service().call("DELETE", "/auth/me", { token });
    expect((await confirm(service(), "verification", link)).status).toBe(204);
  });

  test("the response to a request is the same for every e-mail", async () => {
    const user = await service().createUser();
    const shapeOf = ({ status, headers, text }: Awaited<ReturnType<typeof requestReset>>) => {
      const { "x-request-id": _, date: __, ...rest } = Object.fromEntries(headers);
      return { status, text, rest };
    };
    const expected = shapeOf(await requestReset(service(), "nobody@example.org"));
    expect(expected).toMatchObject({ status: 202, text: "" });
    // More than the budget of a recipient.
    for (let index = 0; index < 5; index++)
      expect(shapeOf(await requestReset(service(), user.email))).toEqual(expected);
    const other = await service().register();
    for (const email of ["free@example.org", other.email, user.email, "x@example.invalid"])
      expect(shapeOf(await requestChange(service(), user, email))).toEqual(expected);
    const kinds = await kindsOf(service());
    expect(kinds.filter((kind) => kind === "reset").length).toBeGreaterThanOrEqual(6);
  });

  test("resets and changes of before end with the password, the version, the user's activity and the user, not with the username", async () => {
    const change: LinkEnd = async (one, { id }) =>
      confirm(one, "email-change", await sign(one, "email-change", id));
    const rename: LinkEnd = ({ call }, { id, token }) =>
      call("PATCH", "/auth/me", { token, body: { username: `renamed ${id}` } });
    for (const end of [...LINK_ENDS, change, rename])
      for (const purpose of ["reset", "email-change-approval", "email-change"] as const) {
        const user = await service().createUser();
        const link = await sign(service(), purpose, user.id);
        await end(service(), user);
        const { status, body } = await confirm(service(), purpose, link);
        expect([status, body]).toEqual(end === rename ? [204, undefined] : [400, INVALID]);
      }
  });

  test("malformed, altered, expired and other purposes' tokens are rejected, without a derivation", async () => {
    const { id, token } = await service().createUser();
    const links = await signAll(service(), id);
    const user = await service().readUser(id);
    const [reset = ""] = links;
    const [text = "", signature = ""] = reset.split(".");
    const [purpose, userId, expiresAt, state] = JSON.parse(Buffer.from(text, "base64url").toString());
    const later = JSON.stringify([purpose, userId, expiresAt + 60_000, state]);
    const altered = Buffer.from(later).toString("base64url");
    const before = service().derivations();
    const forged = [
      ...["", "x", token, text, `${text}.`, `${text}.${signature.slice(1)}`, `${altered}.${signature}`],
      ...[`${reset}.${signature}`, `${reset} `, "é".repeat(1000)],
      signOneTimeToken("reset", user, { expiresAt: Date.now() }),
    ];
    for (const [index, other] of PURPOSES.entries())
      for (const one of [...forged, ...links.toSpliced(index, 1)])
        expect((await confirm(service(), other, one)).body).toEqual(INVALID);
    expect(await statusOfMe(service(), reset)).toBe(401);
    expect(service().derivations()).toBe(before);
    expect(await service().readUser(id)).toEqual(user);
    expect((await confirm(service(), "reset", reset)).status).toBe(204);
  });
});

test("of two confirmations of one link that derive at the same time, one succeeds", async () => {
  const statuses: number[] = [];
  const others: (() => Promise<void>)[] = [];
  await using service = await startService({
    wrapHasher: ({ hash }) => ({
      hash: async (...call) => {
        await others.pop()?.();
        return hash(...call);
      },
    }),
  });
  const { user } = await service.register();
  const token = await sign(service, "reset", user.id);
  const confirmReset = async () => void statuses.push((await confirm(service, "reset", token)).status);
  others.push(confirmReset);
  await confirmReset();
  expect(statuses).toEqual([204, 400]);
});

test("each request and confirmation counts against its limit", async () => {
  const limits = { RATE_LIMIT_MAIL: "2/hour", RATE_LIMIT_PASSWORD_CHANGE: "2/hour" };
  await using service = await startService({
    env: { ...EVERY_FEATURE, RATE_LIMIT_ENABLED: "true", ...limits },
  });
  const user = await service.createUser();
  const responses = [
    await requestReset(service, "a@example.org"),
    await service.call("POST", "/auth/email-verification", { token: user.token }),
    await requestReset(service, "b@example.org"),
    await requestChange(service, { ...user, password: "wrong" }, "new@example.org"),
    await requestChange(service, user, "new@example.org"),
    await confirm(service, "reset", "x"),
  ];
  expect(responses.map(({ status }) => status)).toEqual([202, 202, 429, 403, 202, 429]);
  expect(await kindsOf(service)).toEqual(["verification", "reset", "verification", "email-change"]);
});
