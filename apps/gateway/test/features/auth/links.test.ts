/** Password resets, verifications and changes of e-mail over HTTP, from the request to the confirmation of the link. */
import { describe, expect, test } from "bun:test";
import { pbkdf2Sync } from "node:crypto";
import type { User } from "@latchkey/contracts";
import { bindImportedHash } from "@latchkey/hashing";
import { startMailServer } from "@latchkey/testing/mail-server";
import type { Purpose } from "../../../src/tokens/one-time-tokens.ts";
import { smtp, startSender } from "../../support/mail-sender.ts";
import { signOneTimeToken } from "../../support/one-time-token.ts";
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
  reset: "password-reset",
  verification: "email-verification",
  "email-change": "email-change",
} as const;

const requestReset = ({ call }: Service, email: string) =>
  call("POST", "/auth/password-reset", { body: { email } });
const requestChange = ({ call }: Service, { token, password }: TestUser, email: string) =>
  call("POST", "/auth/email-change", { token, body: { email, current_password: password } });
const confirm = ({ call }: Service, purpose: Purpose, token: string, password = PASSWORD) =>
  call("POST", `/auth/${PATHS[purpose]}/confirm`, { body: { token, password } });

const newEmailOf = (id: number): string => `new${id}@example.org`;
const sign = async (service: Service, purpose: Purpose, id: number, newEmail = newEmailOf(id)) =>
  signOneTimeToken(purpose, await service.readUser(id), { newEmail });
const PURPOSES = ["reset", "verification", "email-change"] as const;
/** One for each purpose, in their order. */
const signAll = (service: Service, id: number, newEmail?: string) =>
  Promise.all(PURPOSES.map((purpose) => sign(service, purpose, id, newEmail)));

const kindsOf = async (service: Service): Promise<string[]> =>
  (await service.sql<{ kind: string }>("select kind from outbox order by id")).map(({ kind }) => kind);
const statusOfMe = async ({ call }: Service, token: string) =>
  (await call("GET", "/auth/me", { token })).status;

/** What ends a reset and a change of e-mail that were requested before. */
const ENDS: readonly ((service: Service, user: TestUser) => Promise<unknown>)[] = [
  ({ call }, { token, password }) =>
    call("PATCH", "/auth/me", { token, body: { password: PASSWORD, current_password: password } }),
  ({ call }, { token }) => call("DELETE", "/auth/tokens", { token }),
  ({ database }, { id }) => database.users.setActive(id, false),
  ({ database: { users } }, { id }) => users.setActive(id, false).then(() => users.setActive(id, true)),
  ({ database }, { id }) => database.users.delete(id),
  // A release without versions, and one that does not know the mails of changes.
  ({ sql }, { id }) => sql(`update users set hashed_password = 'other' where id = ${id}`),
  ({ sql }, { id }) => sql(`update users set token_version = token_version + 1 where id = ${id}`),
];

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

  test("a change sets and verifies the e-mail, and ends tokens and links of before, unless another user has it now", async () => {
    await using service = await start({ env: EVERY_FEATURE });
    const user = await service.createUser();
    const { id, email, password, token } = user;
    const before = await service.readUser(id);
    // The longest e-mail, each character of which is escaped in the link.
    const newEmail = `${"\u0001".repeat(242)}@example.org`;
    const requested = await requestChange(service, user, ` ${newEmail.toUpperCase()}`);
    expect([requested.status, requested.text]).toEqual([202, ""]);
    expect(await service.readUser(id)).toEqual(before);
    const links = await signAll(service, id, newEmail);
    const taken = await sign(service, "email-change", id);
    await service.register({ email: newEmailOf(id) });
    expect((await confirm(service, "email-change", taken)).status).toBe(409);
    expect(await service.readUser(id)).toEqual(before);
    const confirmed = await confirm(service, "email-change", links.at(-1) ?? "");
    expect([confirmed.status, confirmed.text]).toEqual([204, ""]);
    expect(await statusOfMe(service, token)).toBe(401);
    for (const [index, purpose] of PURPOSES.entries())
      expect((await confirm(service, purpose, links[index] ?? "")).body).toEqual(INVALID);
    expect((await service.call("POST", "/auth/login", { body: { email, password } })).status).toBe(401);
    const renewed = await service.login({ email: newEmail, password });
    const me = await service.call("GET", "/auth/me", { token: renewed });
    expect(me.expect<User>(200)).toMatchObject({ id, email: newEmail, email_verified: true });
  });
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
    const change: (typeof ENDS)[number] = async (one, { id }) =>
      confirm(one, "email-change", await sign(one, "email-change", id, `other${id}@example.org`));
    const rename: (typeof ENDS)[number] = ({ call }, { id, token }) =>
      call("PATCH", "/auth/me", { token, body: { username: `renamed ${id}` } });
    for (const end of [...ENDS, change, rename])
      for (const purpose of ["reset", "email-change"] as const) {
        const user = await service().createUser();
        const link = await sign(service(), purpose, user.id);
        await end(service(), user);
        const { status, body } = await confirm(service(), purpose, link);
        expect([status, body]).toEqual(end === rename ? [204, undefined] : [400, INVALID]);
      }
  });

  test("malformed, altered, expired and other purposes' tokens are rejected, without a derivation", async () => {
    const { id, token } = await service().createUser();
    const user = await service().readUser(id);
    const links = await signAll(service(), id);
    const [reset = ""] = links;
    const [text = "", signature = ""] = reset.split(".");
    const altered = Buffer.from(JSON.stringify(["reset", 1, Date.now() + 60_000, ""])).toString("base64url");
    const before = service().derivations();
    const forged = [
      ...["", "x", token, text, `${text}.`, `${text}.${signature.slice(1)}`, `${altered}.${signature}`],
      ...[`${reset}.${signature}`, `${reset} `, "é".repeat(1000)],
      signOneTimeToken("reset", user, { expiresAt: Date.now() }),
    ];
    for (const [index, purpose] of PURPOSES.entries())
      for (const one of [...forged, ...links.toSpliced(index, 1)])
        expect((await confirm(service(), purpose, one)).body).toEqual(INVALID);
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

test("a new address gets a link, unless it is taken or the user has changed since, and the old one a notification", async () => {
  await using server = await startMailServer();
  await using service = await startService({ env: EVERY_FEATURE });
  const take: (typeof ENDS)[number] = ({ register }, { id }) => register({ email: newEmailOf(id) });
  for (const end of [...ENDS, take]) {
    const user = await service.createUser();
    expect((await requestChange(service, user, newEmailOf(user.id))).status).toBe(202);
    await end(service, user);
  }
  const user = await service.createUser();
  const { id, email, password } = user;
  const imported = `pbkdf2_sha256$1$salt$${pbkdf2Sync(password, "salt", 1, 32, "sha256").toString("base64")}`;
  const columns = `hashed_password = '${bindImportedHash(imported)}', imported_hash = '${imported}'`;
  await service.sql(`update users set ${columns} where id = ${id}`);
  for (const to of [email, newEmailOf(id)]) await requestChange(service, user, to);
  await service.sql("delete from outbox where kind <> 'email-change'");
  await using sender = await startSender(service, smtp(server));
  const [link] = await server.waitFor(1);
  expect(link?.recipients).toEqual([newEmailOf(id)]);
  expect(link?.message).toContain(`${service.url}/account/change-email#token=`);
  await sender.drained();
  expect((await confirm(service, "email-change", link?.token ?? "")).status).toBe(204);
  const [, notification] = await server.waitFor(2);
  expect(notification).toMatchObject({ recipients: [email], token: "" });
  expect(notification?.message).not.toContain(newEmailOf(id));
  await sender.drained();
  expect(sender.outcomes).toEqual(["sent email-change", "sent email"]);
  // Only the sent ones remain, for the budget.
  expect(await service.sql("select recipient from outbox")).toEqual([
    { recipient: null },
    { recipient: null },
  ]);
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
