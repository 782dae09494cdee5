/**
 * The table of docs/operations.md, "A token or a password was stolen", with the running service: after the commands of a row,
 * nothing that the thief has works any more, and the user has the same id.
 */
import { describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { inFullRun } from "@latchkey/testing/full-run";
import { SECRET_KEY } from "@latchkey/testing/keys";
import { startMailServer } from "@latchkey/testing/mail-server";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { PATIENT_HASHING, post, request, startProcess } from "@latchkey/testing/service-process";
import { querySqlite } from "@latchkey/testing/sqlite";
import { runToolAlone } from "./support/tool.ts";

const PASSWORD = "correct horse battery staple";
const THIEFS_PASSWORD = "chosen by the thief, as long";
const NEW_PASSWORD = "another one, just as long";
const NEW_KEY = [...SECRET_KEY].reverse().join("");

interface User {
  readonly id: number;
  readonly email: string;
}

async function openDatabaseOf(kind: string) {
  const folder = await openFolder();
  const server = kind === "postgres" ? await startPostgresServer() : null;
  const url = (await server?.createDatabase()) ?? folder.databaseUrl;
  return {
    url,
    backup: join(folder.path, "backup.db"),
    sql: (statement: string): Promise<unknown[]> =>
      server ? server.query(statement, url) : querySqlite(url, statement),
    /** A copy of the database, which no session uses, as a dump would restore it. */
    copy: () => server?.createDatabase(url),
    [Symbol.asyncDispose]: async () => {
      await server?.[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

const start = (url: string, key: string, env: Readonly<Record<string, string>> = {}) =>
  startProcess({
    ...PATIENT_HASHING,
    ...env,
    DATABASE_URL: url,
    AUTH_SECRET_KEY: key,
    AUTH_RENEWAL_DAYS: "1",
    RATE_LIMIT_ENABLED: "false",
  });

/** The status of a login, and its token. */
async function logIn(service: string, { email }: User, password: string) {
  const response = await post(`${service}/auth/login`, { email, password });
  const { access_token: token = "" } = (await response.json()) as { access_token?: string };
  return { status: response.status, token };
}

async function register(service: string, name: string): Promise<User> {
  const email = `${name}@example.com`;
  const response = await post(`${service}/auth/register`, { email, username: name, password: PASSWORD });
  return (await response.json()) as User;
}

/** A passkey and an identity of the thief. */
async function addLogins({ sql }: Awaited<ReturnType<typeof openDatabaseOf>>, { id }: User): Promise<void> {
  await sql(
    `insert into passkeys (credential_id, user_id, public_key, counter, name) values ('${id}', ${id}, 'key', 0, 'Thief')`,
  );
  await sql(
    `insert into identities (user_id, issuer, subject, provider) values (${id}, 'https://id.example', '${id}', 'example')`,
  );
}

const me = (service: string, token: string) => request(`${service}/auth/me`, { token });

async function setPassword(service: string, token: string, password: string, current_password?: string) {
  const body = { password, current_password };
  return (await request(`${service}/auth/me`, { method: "PATCH", token, body })).status;
}

/** The statuses of everything that a thief can do with a token. */
const usesOf = async (service: string, token: string) =>
  new Set([
    (await me(service, token)).status,
    (await request(`${service}/auth/tokens`, { method: "POST", token })).status,
    await setPassword(service, token, THIEFS_PASSWORD),
    (await request(`${service}/auth/me`, { method: "DELETE", token })).status,
  ]);

/** Signs a token as somebody who knows the key. */
function forge(id: number): string {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
  const content = `${encode({ alg: "HS256", typ: "JWT" })}.${encode({ sub: String(id), ver: 0, exp: 4e9 })}`;
  return `${content}.${createHmac("sha256", SECRET_KEY).update(content).digest("base64url")}`;
}

const mailOf = ({ url }: { readonly url: string }) => ({
  MAIL_URL: url,
  MAIL_FROM: "latchkey@example.com",
  PUBLIC_URL: "http://localhost",
  AUTH_EMAIL_CHANGE: "true",
});

// The commands and their conditions on PostgreSQL have tests of their own, without the service.
inFullRun(describe).each(["libsql", "postgres"])("on %s", recoveryOn);

function recoveryOn(kind: "libsql" | "postgres"): void {
  test("after the commands for a stolen token, password, both and signing key, the thief has nothing, and each user the same id", async () => {
    await using database = await openDatabaseOf(kind);
    const { url } = database;
    const admin = async (command: string, input = "") => {
      const { code, stdout, stderr } = await runToolAlone(["users", ...command.split(" "), "--json"], {
        env: { DATABASE_URL: url, NODE_ENV: "production" },
        input,
      });
      expect([command, code, code === 0 ? "" : stderr]).toEqual([command, 0, ""]);
      return JSON.parse(stdout) as User;
    };
    const users: User[] = [];
    {
      await using gateway = start(url, SECRET_KEY);
      const service = await gateway.ready();
      for (const name of ["tom", "pat", "bob", "sue", "kay"]) users.push(await register(service, name));
      const [tom, pat, bob, sue, kay] = users as [User, User, User, User, User];
      const [toms, pats, bobs, sues] = await Promise.all(
        [tom, pat, bob, sue].map((user) => logIn(service, user, PASSWORD)),
      );
      const renewed = await request(`${service}/auth/tokens`, { method: "POST", token: toms?.token });
      const { access_token: kept } = (await renewed.json()) as { access_token: string };
      // With the password, the thief of Pat's enrols a passkey. The thief of Bob's also changes the password. The thief of Sue's
      // token changes it without knowing it.
      for (const user of [pat, bob]) await addLogins(database, user);
      expect(await setPassword(service, bobs?.token ?? "", THIEFS_PASSWORD, PASSWORD)).toBe(200);
      expect(await setPassword(service, sues?.token ?? "", THIEFS_PASSWORD)).toBe(200);
      // Whoever knows the signing key needs no password.
      expect((await me(service, forge(kay.id))).status).toBe(200);
      expect(await setPassword(service, forge(kay.id), THIEFS_PASSWORD)).toBe(200);

      await admin(`revoke-tokens ${tom.email}`);
      for (const token of [toms?.token ?? "", kept])
        expect(await usesOf(service, token)).toEqual(new Set([401]));
      expect(await logIn(service, tom, PASSWORD)).toMatchObject({ status: 200 });

      for (const user of [pat, bob, sue]) await admin(`set-password ${user.email}`, NEW_PASSWORD);
      for (const stolen of [pats, bobs, sues])
        expect(await usesOf(service, stolen?.token ?? "")).toEqual(new Set([401]));
      for (const user of [pat, bob, sue]) {
        for (const password of [PASSWORD, THIEFS_PASSWORD])
          expect((await logIn(service, user, password)).status).toBe(401);
        const { token } = await logIn(service, user, NEW_PASSWORD);
        expect(await (await me(service, token)).json()).toMatchObject({ id: user.id });
        expect(await admin(`show ${user.email}`)).toMatchObject({ passkeys: [], identities: [] });
      }
    }
    await using gateway = start(url, NEW_KEY);
    const service = await gateway.ready();
    const kay = users[4] as User;
    expect(await usesOf(service, forge(kay.id))).toEqual(new Set([401]));
    await admin(`set-password ${kay.email}`, NEW_PASSWORD);
    for (const password of [PASSWORD, THIEFS_PASSWORD])
      expect((await logIn(service, kay, password)).status).toBe(401);
    const { token } = await logIn(service, kay, NEW_PASSWORD);
    expect(await (await me(service, token)).json()).toMatchObject({ id: kay.id });
  });

  inFullRun(test)(
    "after a mailbox was stolen for a day, one command gives the account back with the same id, and no link of the thief works",
    async () => {
      await using database = await openDatabaseOf(kind);
      await using mailServer = await startMailServer();
      const mail = mailOf(mailServer);
      await using gateway = start(database.url, SECRET_KEY, mail);
      const service = await gateway.ready();
      let seen = 0;
      /** The token of the next mail to the address. Mails arrive in the order in which they are awaited. */
      const tokenTo = async (recipient: string) => {
        seen += 1;
        const { recipients, token } = (await mailServer.waitFor(seen))[seen - 1] ?? {};
        expect(recipients).toEqual([recipient]);
        return token ?? "";
      };
      const send = async (path: string, body: object, token?: string) =>
        (await request(`${service}/auth/${path}`, { method: "POST", body, token })).status;
      const ada = await register(service, "ada");
      const thief = { id: ada.id, email: "thief@example.net" };
      expect(await send("email-verification/confirm", { token: await tokenTo(ada.email) })).toBe(204);

      // With the mailbox, the thief resets the password, and then moves the account to another mailbox.
      expect(await send("password-reset", { email: ada.email })).toBe(202);
      const reset = { token: await tokenTo(ada.email), password: THIEFS_PASSWORD };
      expect(await send("password-reset/confirm", reset)).toBe(204);
      expect(await tokenTo(ada.email)).toBe("");
      const changeTo = async (email: string, token: string) =>
        expect(await send("email-change", { email, current_password: THIEFS_PASSWORD }, token)).toBe(202);
      await changeTo(thief.email, (await logIn(service, ada, THIEFS_PASSWORD)).token);
      expect(await send("email-change/approve", { token: await tokenTo(ada.email) })).toBe(204);
      expect(await send("email-change/confirm", { token: await tokenTo(thief.email) })).toBe(204);
      expect(await tokenTo(ada.email)).toBe("");
      const { token: stolen } = await logIn(service, thief, THIEFS_PASSWORD);
      // Links that the thief keeps for later.
      expect(await send("password-reset", { email: thief.email })).toBe(202);
      const keptReset = { token: await tokenTo(thief.email), password: THIEFS_PASSWORD };
      await changeTo("thief2@example.net", stolen);
      const keptApproval = { token: await tokenTo(thief.email) };
      expect(await send("email-change/approve", keptApproval)).toBe(204);
      const keptConfirmation = { token: await tokenTo("thief2@example.net") };
      await addLogins(database, ada);

      const admin = (...args: string[]) =>
        runToolAlone(["users", ...args, "--json"], {
          env: { ...mail, DATABASE_URL: database.url, NODE_ENV: "production" },
        });
      expect(await admin("set-email", thief.email, ada.email)).toMatchObject({ code: 0 });
      expect(JSON.parse((await admin("show", ada.email)).stdout)).toMatchObject({
        passkeys: [],
        identities: [],
      });
      expect(await usesOf(service, stolen)).toEqual(new Set([401]));
      for (const user of [ada, thief])
        for (const password of [PASSWORD, THIEFS_PASSWORD])
          expect((await logIn(service, user, password)).status).toBe(401);
      for (const [path, body] of [
        ["password-reset/confirm", reset],
        ["password-reset/confirm", keptReset],
        ["email-change/approve", keptApproval],
        ["email-change/confirm", keptConfirmation],
      ] as const)
        expect(await send(path, body)).toBe(400);
      const mails = (await mailServer.waitFor(seen + 2)).slice(seen);
      const owns = mails.find(({ recipients }) => String(recipients) === ada.email);
      expect(mails.find(({ recipients }) => String(recipients) === thief.email)?.token).toBe("");
      const own = { token: owns?.token, password: NEW_PASSWORD };
      expect(await send("password-reset/confirm", own)).toBe(204);
      const { token } = await logIn(service, ada, NEW_PASSWORD);
      const found = await (await me(service, token)).json();
      expect(found).toMatchObject({ id: ada.id, email: ada.email, email_verified: true });
    },
  );

  inFullRun(test)(
    "after a restored backup, what was ended since it was made stays ended, and nobody gets the id of a lost user",
    async () => {
      await using database = await openDatabaseOf(kind);
      const { url, backup } = database;
      const tool = async (databaseUrl: string, command: string, input = "") => {
        const env = { DATABASE_URL: databaseUrl, NODE_ENV: "production", AUTH_SECRET_KEY: NEW_KEY };
        const { code, stderr } = await runToolAlone(command.split(" "), { env, input });
        expect([command, code, code === 0 ? "" : stderr]).toEqual([command, 0, ""]);
      };
      let [ada, lost]: User[] = [];
      let token = "";
      let restored = url;
      {
        await using gateway = start(url, SECRET_KEY);
        const service = await gateway.ready();
        ada = await register(service, "ada");
        ({ token } = await logIn(service, ada, PASSWORD));
        await addLogins(database, ada);
        if (kind === "libsql") await tool(url, `backup ${backup}`);
        else {
          gateway.signal("SIGTERM");
          await gateway.ended();
          restored = (await database.copy()) ?? "";
        }
      }
      {
        await using gateway = start(url, SECRET_KEY);
        const service = await gateway.ready();
        await tool(url, `users set-password ${ada.email}`, NEW_PASSWORD);
        lost = await register(service, "lost");
      }
      if (kind === "libsql") await tool(url, `restore ${backup} --force --without-passkeys`);
      else await tool(restored, "raise-ids --without-passkeys");
      await using gateway = start(restored, NEW_KEY);
      const service = await gateway.ready();
      // The old password is valid again, until the operator repeats the command.
      expect((await logIn(service, ada, PASSWORD)).status).toBe(200);
      await tool(restored, `users set-password ${ada.email}`, NEW_PASSWORD);
      expect(await usesOf(service, token)).toEqual(new Set([401]));
      expect((await logIn(service, ada, PASSWORD)).status).toBe(401);
      const own = await logIn(service, ada, NEW_PASSWORD);
      expect(await (await me(service, own.token)).json()).toMatchObject({ id: ada.id });
      const { stdout } = await runToolAlone(["users", "show", ada.email, "--json"], {
        env: { DATABASE_URL: restored },
      });
      expect(JSON.parse(stdout)).toMatchObject({ id: ada.id, passkeys: [], identities: [] });
      expect((await register(service, "mallory")).id).toBeGreaterThan(lost.id);
    },
  );

  inFullRun(test)(
    "a restore ends every token, link and code of before, even if the signing key stays",
    async () => {
      await using database = await openDatabaseOf(kind);
      await using mailServer = await startMailServer();
      const mail = { ...mailOf(mailServer), AUTH_EMAIL_LOGIN: "true" };
      const tool = async (command: string) => {
        const env = { ...mail, DATABASE_URL: database.url, NODE_ENV: "production" };
        expect(await runToolAlone(command.split(" "), { env })).toMatchObject({ code: 0 });
      };
      const attempts: [path: string, body: object, token?: string][] = [];
      const send = (service: string, path: string, body: object, token?: string) =>
        request(`${service}/auth/${path}`, { method: "POST", body, token });
      let token = "";
      {
        await using gateway = start(database.url, SECRET_KEY, mail);
        const service = await gateway.ready();
        let seen = 0;
        const next = async () => {
          seen += 1;
          return (await mailServer.waitFor(seen))[seen - 1];
        };
        const ada = await register(service, "ada");
        await send(service, "email-verification/confirm", { token: (await next())?.token });
        ({ token } = await logIn(service, ada, PASSWORD));
        await send(service, "password-reset", { email: ada.email });
        attempts.push(["password-reset/confirm", { token: (await next())?.token, password: NEW_PASSWORD }]);
        await tool("users invite bob@example.com");
        attempts.push(["password-reset/confirm", { token: (await next())?.token, password: NEW_PASSWORD }]);
        await send(service, "email-change", { email: "new@example.com", current_password: PASSWORD }, token);
        await send(service, "email-change/approve", { token: (await next())?.token });
        attempts.push(["email-change/confirm", { token: (await next())?.token }]);
        const options = await send(service, "login/email/options", { email: ada.email });
        const { state } = (await options.json()) as { state: string };
        const [code = ""] = /^\d{8}\r?$/m.exec((await next())?.message ?? "") ?? [];
        expect(code).not.toBe("");
        attempts.push(["login/email", { state, code: code.trim() }], ["tokens", {}, token]);
      }
      if (kind === "libsql") {
        await tool(`backup ${database.backup}`);
        await tool(`restore ${database.backup} --force`);
      } else await tool("raise-ids");
      await using gateway = start(database.url, SECRET_KEY, mail);
      const service = await gateway.ready();
      const statuses = [];
      for (const attempt of attempts) statuses.push((await send(service, ...attempt)).status);
      expect(statuses).toEqual([400, 400, 400, 401, 401]);
      expect(await usesOf(service, token)).toEqual(new Set([401]));
    },
  );
}
