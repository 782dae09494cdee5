/** Registration: its responses, what it stores, and that it always runs a derivation. */
import { expect, test } from "bun:test";
import type { User } from "@latchkey/contracts";
import { DatabaseUnavailable } from "@latchkey/database";
import { examplesOf, fetchDocument } from "../../support/openapi/document.ts";
import { eachDatabase, newCredentials, shareService, startService } from "../../support/service.ts";

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const taken = (field: "email" | "username") => ({
  ...{ detail: "A user with this e-mail or username already exists", code: "USER_ALREADY_EXISTS" },
  field,
});

const shared = shareService();

test("register returns 201 with the active user and RFC 3339 timestamps in UTC with milliseconds, and ignores names of columns", async () => {
  const { email, username, password } = newCredentials();
  const columns = { id: 77, is_active: false, hashed_password: "x", created_at: null, role: {} };
  const body = { ...columns, email, username, password };
  const startedAt = Date.now();
  const user = (await shared().call("POST", "/auth/register", { body })).expect<User>(201);
  const names = ["id", "email", "email_verified", "username", "is_active", "created_at", "updated_at"];
  expect(Object.keys(user)).toEqual(names);
  expect(user).toMatchObject({ email, email_verified: false, username, is_active: true });
  expect(user.id).not.toBe(77);
  expect(Number.isSafeInteger(user.id) && user.id > 0).toBe(true);
  expect(user.created_at).toMatch(TIMESTAMP);
  expect(user.updated_at).toBe(user.created_at);
  expect(Date.parse(user.created_at)).toBeWithin(startedAt - 10_000, Date.now() + 10_000);
  expect(await shared().login({ email, password })).toBeString();
});

eachDatabase((startOn) => {
  test("register stores every member of its body", async () => {
    await using service = await startOn({ env: { LANGUAGES: "en,de" } });
    const { password, ...members } = examplesOf(await fetchDocument(service), "register");
    expect(members).toHaveProperty("locale");
    const user = await service.call("POST", "/auth/register", { body: { ...members, password } });
    expect(user.expect<object>(201)).toMatchObject(members);
  });
});

test("e-mails are trimmed and lowercased, so every spelling belongs to the same user", async () => {
  const { user } = await shared().register({ email: " \t\n Ada.Lovelace@EXAMPLE.Org \r\n" });
  expect(user.email).toBe("ada.lovelace@example.org");
  // Whitespace does not count towards the length.
  for (const email of [user.email, user.email.toUpperCase(), `${" ".repeat(300)}Ada.Lovelace@Example.org `]) {
    const body = { ...newCredentials(), email };
    const again = await shared().call("POST", "/auth/register", { body });
    expect([again.status, again.body]).toEqual([409, taken("email")]);
  }
});

test("every registration responds after its derivation, also if the e-mail or the username is taken", async () => {
  await using service = await startService();
  const { email, username } = await service.register();
  for (const [given, status, field] of [
    [{ email }, 409, "email"],
    [{ username }, 409, "username"],
    [{ email, username }, 409, "email"],
    [{}, 201],
  ] as const) {
    const before = service.derivations();
    const body = { ...newCredentials(), ...given };
    const response = await service.call("POST", "/auth/register", { body });
    expect([response.status, service.derivations()]).toEqual([status, before + 1]);
    if (field) expect(response.body).toEqual(taken(field));
  }
  expect(await service.sql("select id from users")).toHaveLength(2);
});

test("a registration returns 503 without a derivation if the database is unreachable", async () => {
  const findByEmail = () => Promise.reject(new DatabaseUnavailable("DEADLINE"));
  await using service = await startService({ wrapDatabase: () => ({ users: { findByEmail } }) });
  const { status } = await service.call("POST", "/auth/register", { body: newCredentials() });
  expect([status, service.derivations()]).toEqual([503, 0]);
});

test("with closed registration, a valid request returns 403 without a query or a derivation, whatever the e-mail", async () => {
  const findByEmail = () => Promise.reject(new DatabaseUnavailable("DEADLINE"));
  await using service = await startService({
    env: { AUTH_REGISTRATION: "closed", RATE_LIMIT_ENABLED: "true", RATE_LIMIT_REGISTER: "1/hour" },
    wrapDatabase: () => ({ users: { findByEmail, create: findByEmail } }),
  });
  const register = (body: object) => service.call("POST", "/auth/register", { body });
  expect((await register({ ...newCredentials(), password: "short" })).status).toBe(422);
  const closed = { detail: "Registration is closed", code: "REGISTRATION_CLOSED" };
  const response = await register(newCredentials());
  expect([response.status, response.body, service.derivations()]).toEqual([403, closed, 0]);
  expect((await register(newCredentials())).status).toBe(429);
});

test("a username without a visible character is rejected", async () => {
  for (const username of ["", " ", "   ", "\u200b", " \u2060\ufeff\t"]) {
    const body = { ...newCredentials(), username };
    expect((await shared().call("POST", "/auth/register", { body })).status).toBe(422);
  }
});

test("a username is stored unchanged: whitespace, case and any script", async () => {
  for (const username of ["  padded  ", "Ada", "ADA", "李", "'; drop table users; --", "\u007f\t"]) {
    const { user } = await shared().register({ username });
    expect(user.username).toBe(username);
  }
});
