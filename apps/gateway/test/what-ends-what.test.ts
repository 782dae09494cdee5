/** The table "What ends what" of docs/sessions.md: each event against each credential that a user had before it. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { ROOT } from "@latchkey/testing/repository";
import { KEY, openAdministration } from "./support/administration.ts";
import { createVerified, enrolFactor } from "./support/factors.ts";
import { codeBody, loginOidc, oidcVariables, tokenOf } from "./support/identities.ts";
import { beginEmailChange, signOneTimeToken } from "./support/one-time-token.ts";
import { type HostileProvider, startHostileProvider } from "./support/openid/hostile-provider.ts";
import { enrol, logIn, loginBody } from "./support/passkeys.ts";
import { EVERY_FEATURE, type Service, startService, type TestUser } from "./support/service.ts";

let provider: HostileProvider;
let service: Service;
let administration: Awaited<ReturnType<typeof openAdministration>>;
beforeAll(async () => {
  provider = await startHostileProvider();
  const env = {
    ADMIN_PORT: "0",
    ADMIN_API_KEYS: `shop:${KEY}`,
    AUTH_EMAIL_LOGIN: "true",
    AUTH_SECOND_FACTOR: "true",
    ...EVERY_FEATURE,
  };
  service = await startService({ env: { ...env, ...oidcVariables([provider, { link: true }]) } });
  administration = await openAdministration(service);
});
afterAll(async () => {
  await administration[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

const PASSWORD = "a new long passphrase";
/** Gives the user a credential, and returns whether it still works. */
type Credential = (user: TestUser) => Promise<() => Promise<boolean>>;
type Event = (user: TestUser) => Promise<unknown>;

const call: Service["call"] = (...request) => service.call(...request);
const accepts = async (path: string, body: object) => (await call("POST", path, { body })).status < 400;

const confirmsWith = (path: string, token: string) => async () =>
  accepts(path, { token, password: PASSWORD });
const CREDENTIALS: Readonly<Record<string, Credential>> = {
  tokens: async (user) => {
    const token = await service.login(user);
    return async () => (await call("GET", "/auth/me", { token })).status === 200;
  },
  password:
    async ({ id, password }) =>
    async () =>
      accepts("/auth/login", { email: (await service.readUser(id)).email, password }),
  passkeys: async (user) => {
    const authenticator = await enrol(service, user);
    return async () => (await logIn(service, await loginBody(service, authenticator))).status === 200;
  },
  identities: async ({ email, username }) => {
    tokenOf(await loginOidc(service, provider, { claims: { email, sub: username } }));
    const claims = { email: undefined, sub: username };
    return async () => (await loginOidc(service, provider, { claims })).status === 200;
  },
  "second factor": async (user) => {
    Object.assign(user, { token: (await enrolFactor(service, user)).token });
    return async () => (await service.readUser(user.id)).factorId !== null;
  },
  "login code": async (user) => {
    const body = await codeBody(service, user);
    return async () => accepts("/auth/login/email", body);
  },
  "reset link": async ({ id }) =>
    confirmsWith("/auth/password-reset/confirm", signOneTimeToken("reset", await service.readUser(id))),
  "e-mail change": async ({ id, username }) => {
    const user = await beginEmailChange(service, id, `${username}@new.example.org`);
    return confirmsWith("/auth/email-change/confirm", signOneTimeToken("email-change", user));
  },
  "verification link": async ({ id }) =>
    confirmsWith(
      "/auth/email-verification/confirm",
      signOneTimeToken("verification", await service.readUser(id)),
    ),
  networks: async ({ id }) => {
    await service.database.users.storeNetwork(id, "known");
    const rows = `select 1 from user_networks where user_id = ${id} and network_digest = 'known'`;
    return async () => (await service.sql(rows)).length > 0;
  },
};

const changePassword = async ({ token, password }: TestUser, options: object = {}) => {
  const body = { password: PASSWORD, current_password: password, ...options };
  (await call("PATCH", "/auth/me", { token, body })).expect(200);
};
const administer = async (method: string, { id }: TestUser, body?: object, path = "") => {
  const response = await administration.call(method, `/admin/users/${id}${path}`, body ? { body } : {});
  expect(response.status).toBeLessThan(300);
};
const takeOver = async (user: TestUser) => {
  await service.database.users.update(user.id, { emailVerified: false });
  await call("POST", "/auth/login/email", { body: await codeBody(service, user) });
};

const EVENTS: Readonly<Record<string, Event>> = {
  "password change": (user) => changePassword(user),
  "password change, `remove_passkeys`": (user) => changePassword(user, { remove_passkeys: true }),
  reset: async ({ id }) => {
    const token = signOneTimeToken("reset", await service.readUser(id));
    (await call("POST", "/auth/password-reset/confirm", { body: { token, password: PASSWORD } })).expect(204);
  },
  "change of e-mail": async ({ id }) => {
    const user = await beginEmailChange(service, id, `${id}@changed.example.org`);
    const token = signOneTimeToken("email-change", user);
    (await call("POST", "/auth/email-change/confirm", { body: { token } })).expect(204);
  },
  takeover: takeOver,
  "`DELETE /auth/tokens`, `users revoke-tokens`": (user) => administer("DELETE", user, undefined, "/tokens"),
  "removed role": async (user) => {
    await administer("PATCH", user, { roles: ["editor"], unverified: true });
    await administer("PATCH", user, { roles: [] });
  },
  "`users set-password`": (user) => administer("PATCH", user, { password: PASSWORD }),
  "`users set-email`": (user) => administer("PATCH", user, { email: `${user.id}@set.example.org` }),
  "`users deactivate`, then `activate`": async (user) => {
    await administer("PATCH", user, { is_active: false });
    await administer("PATCH", user, { is_active: true });
  },
  "`users remove-passkeys`": (user) => administer("DELETE", user, undefined, "/passkeys"),
  "`users remove-identities`": ({ id }) => service.database.identities.deleteAll(id, { notifies: false }),
  "second factor set up, replaced or removed": async (user) => {
    if ((await service.readUser(user.id)).factorId === null) await enrolFactor(service, user);
    await administer("DELETE", user, undefined, "/factor");
  },
};

/** Of one user: to use a link, or to have a second factor, would end the others. */
const TOGETHER = [
  "tokens",
  "password",
  "passkeys",
  "identities",
  "verification link",
  "networks",
  "login code",
];
const ALONE = ["second factor", "reset link", "e-mail change"];

test("the document states what each event ends", async () => {
  const ended = new Set<string>();
  for (const [event, happen] of Object.entries(EVENTS))
    for (const credentials of [TOGETHER, ...ALONE.map((credential) => [credential])]) {
      const user = await createVerified(service);
      const probes: (readonly [string, () => Promise<boolean>])[] = [];
      for (const credential of credentials)
        probes.push([credential, (await CREDENTIALS[credential]?.(user)) ?? expect.unreachable()]);
      await happen(user);
      for (const [credential, works] of probes) if (!(await works())) ended.add(`${event}: ${credential}`);
    }
  const document = await Bun.file(join(ROOT, "docs/sessions.md")).text();
  const [[, ...columns] = [], ...rows] = rowsAfter("## What ends what", document);
  expect(columns).toEqual(Object.keys(CREDENTIALS));
  expect(rows.map(([event]) => event)).toEqual(Object.keys(EVENTS));
  const documented = rows.flatMap(([event, ...cells]) =>
    columns.filter((_, index) => cells[index] === "ends").map((credential) => `${event}: ${credential}`),
  );
  expect(documented.toSorted()).toEqual([...ended].sort());
});

/** The cells of the first table after a heading, without the line below its head. */
function rowsAfter(heading: string, document: string): string[][] {
  const [head, , ...rows] = document.split(`${heading}\n`)[1]?.match(/^\|.*\|$/gm) ?? [];
  return [head ?? "", ...rows].map((row) =>
    row
      .slice(1, -1)
      .split("|")
      .map((cell) => cell.trim()),
  );
}
