/** Every way to log in passes the same decisions, and a refusal changes nothing. `call` compares each error with the document. */
import { expect, test } from "bun:test";
import { privateKeyVariables } from "@latchkey/testing/keys";
import { EVERYTHING } from "../src/features/optional-features.ts";
import { ORIGIN } from "./support/authenticator.ts";
import type { ClientResponse } from "./support/client.ts";
import { codeBody, loginOidc, oidcVariables } from "./support/identities.ts";
import { fetchDocument, operationsOf } from "./support/openapi/document.ts";
import { variablesWith } from "./support/openapi/requests.ts";
import { type HostileProvider, startHostileProvider } from "./support/openid/hostile-provider.ts";
import { enrol, logIn, loginBody } from "./support/passkeys.ts";
import {
  eachDatabase,
  type Service,
  type ServiceOptions,
  startService,
  type TestUser,
} from "./support/service.ts";

type LogIn = () => Promise<ClientResponse>;

interface Way {
  /** As the document names it. */
  readonly operation: string;
  /** Whether the login proves the e-mail, so that a commit verifies it. */
  readonly provesEmail?: true;
  /** The error if the user is deleted meanwhile. */
  readonly rejection: string;
  prepare(service: Service, user: TestUser, provider: HostileProvider): Promise<LogIn>;
}

const code: Way["prepare"] = async (service, user) => {
  const body = await codeBody(service, user);
  return () => service.call("POST", "/auth/login/email", { body });
};
const provided =
  (service: Service, { email, id }: TestUser, provider: HostileProvider) =>
  () =>
    loginOidc(service, provider, { claims: { email, sub: `sub ${id}` } });

const OIDC = { operation: "oidcLogin", rejection: "IDENTITY_REJECTED" };
const WAYS: Readonly<Record<string, Way>> = {
  password: {
    operation: "login",
    rejection: "INVALID_CREDENTIALS",
    prepare:
      async (service, { email, password }) =>
      () =>
        service.call("POST", "/auth/login", { body: { email, password } }),
  },
  passkey: {
    operation: "passkeyLogin",
    rejection: "PASSKEY_REJECTED",
    async prepare(service, user) {
      const body = await loginBody(service, await enrol(service, user));
      return () => logIn(service, body);
    },
  },
  "known identity": {
    ...OIDC,
    async prepare(service, user, provider) {
      const login = provided(service, user, provider);
      (await login()).expect(200);
      return login;
    },
  },
  "linked identity": { ...OIDC, provesEmail: true, prepare: async (...way) => provided(...way) },
  code: { operation: "emailLogin", rejection: "LOGIN_CODE_INVALID", provesEmail: true, prepare: code },
};

const startEverything = (
  start: typeof startService,
  provider: HostileProvider,
  options: ServiceOptions = {},
) =>
  start({
    ...options,
    env: {
      ...variablesWith(provider),
      ...oidcVariables([provider, { link: true }]),
      ...{ PASSKEY_ORIGINS: ORIGIN, AUTH_REQUIRE_VERIFIED_EMAIL: "true" },
      ...{ RATE_LIMIT_ENABLED: "true", RATE_LIMIT_DEFAULT: "1000/minute", RATE_LIMIT_REGISTER: "100/minute" },
      ...{
        RATE_LIMIT_LOGIN: "100/minute",
        RATE_LIMIT_MAIL: "100/minute",
        RATE_LIMIT_PASSWORD_CHANGE: "100/minute",
      },
      ...options.env,
    },
  });

/** A user whose e-mail is verified. */
async function createVerified(service: Service): Promise<TestUser> {
  const { user, ...credentials } = await service.register();
  await service.database.users.update(user.id, { emailVerified: true });
  return { ...credentials, user, id: user.id, token: await service.login(credentials) };
}

/** What a refused login must not change: all but what proves single use. */
async function stateOf({ sql }: Service) {
  const users = await sql<object>("select * from users order by id");
  const others = ["identities", "user_networks"].map((table) => sql<object>(`select * from ${table}`));
  return [users.map((user) => ({ ...user, login_code_revision: 0 })), ...(await Promise.all(others))];
}

const codeOf = ({ body }: ClientResponse) => (body as { readonly code?: string }).code;

eachDatabase((start) => {
  test.each([
    ["is inactive, where other services verify tokens", "is_active = false, email_verified = false", "EdDSA"],
    ["is inactive and has an unverified e-mail", "is_active = false, email_verified = false", undefined],
    ["has an unverified e-mail", "email_verified = false", undefined],
  ] as const)("every way treats a user alike who %s", async (_state, values, algorithm) => {
    await using provider = await startHostileProvider();
    const env = algorithm && privateKeyVariables(algorithm);
    await using service = await startEverything(start, provider, env && { env });
    for (const { prepare, provesEmail } of Object.values(WAYS)) {
      const user = await createVerified(service);
      const login = await prepare(service, user, provider);
      await service.sql(`update users set ${values} where id = ${user.id}`);
      await service.sql("delete from outbox where kind <> 'login-code'");
      const before = await stateOf(service);
      const events = service.log.length;
      const response = await login();
      const { isActive } = await service.readUser(user.id);
      await service.request("/healthz");
      const logged = service.log.slice(events).flatMap(({ event }) => (event === undefined ? [] : [event]));
      if (provesEmail && isActive) {
        expect([response.status, logged]).toEqual([200, ["user.taken_over", "login.succeeded"]]);
        // The takeover has deleted the networks of before; that of the login is stored.
        const networks = await service.sql(`select * from user_networks where user_id = ${user.id}`);
        expect(networks).toHaveLength(1);
        continue;
      }
      expect([response.status, codeOf(response), logged]).toEqual([
        403,
        algorithm ? "INACTIVE_USER" : "EMAIL_NOT_VERIFIED",
        [isActive ? "login.unverified" : "login.inactive"],
      ]);
      expect(await stateOf(service)).toEqual(before);
      const mails = await service.sql<object>("select kind from outbox where kind <> 'login-code'");
      expect(mails).toEqual(algorithm ? [] : [{ kind: "verification" }]);
    }
  });

  test("a user whose e-mail changed since the way read it gets the error of the way, and keeps the credentials", async () => {
    await using provider = await startHostileProvider();
    let change: (() => Promise<unknown>) | undefined;
    await using service = await startEverything(start, provider, {
      wrapDatabase: ({ users }) => ({
        users: {
          async findWithNetwork(...user) {
            await change?.();
            return users.findWithNetwork(...user);
          },
        },
      }),
    });
    for (const { prepare, rejection } of Object.values(WAYS).filter(
      ({ prepare }) => prepare !== WAYS.password?.prepare,
    )) {
      const user = await createVerified(service);
      const login = await prepare(service, user, provider);
      await service.sql(`update users set email_verified = false where id = ${user.id}`);
      let before: Awaited<ReturnType<typeof stateOf>> = [];
      change = async () => {
        await service.sql(`update users set email = 'new${user.id}@example.org' where id = ${user.id}`);
        before = await stateOf(service);
      };
      const response = await login();
      change = undefined;
      expect([response.status, codeOf(response)]).toEqual([401, rejection]);
      expect(await stateOf(service)).toEqual(before);
    }
  });
});

test("a user who is created by a login has the lines of the registration and of the login", async () => {
  await using provider = await startHostileProvider();
  await using service = await startEverything(startService, provider);
  (await loginOidc(service, provider)).expect(200);
  await service.request("/healthz");
  const events = service.log.filter(({ event }) => event !== undefined);
  expect(events).toMatchObject([
    { event: "user.registered", provider: "example" },
    { event: "login.succeeded", provider: "example", status: 200 },
  ]);
  expect(events[0]?.request_id).toBe(events[1]?.request_id);
});

/** They return a token, but log nobody in with a first factor; or, as the second step of a login, have tests of their own. */
const OTHER_TOKENS = ["renewToken", "exchangeCode", "factorLogin"];

test("every operation that returns a token is a way of this file, and its document has the errors of a login", async () => {
  await using service = await startService({ env: EVERYTHING });
  const logins = operationsOf(await fetchDocument(service)).filter(({ operationId = "", responses }) => {
    const schema = responses["200"]?.content?.["application/json"]?.schema;
    return schema?.$ref === "#/components/schemas/TokenResponse" && !OTHER_TOKENS.includes(operationId);
  });
  const ways = new Set(Object.values(WAYS).map(({ operation }) => operation));
  expect(new Set(logins.map(({ operationId }) => operationId))).toEqual(ways);
  for (const { operationId, responses } of logins) {
    const codes = Object.keys(responses["403"]?.content?.["application/json"]?.examples ?? {});
    const factor = operationId === "passkeyLogin" ? [] : ["SECOND_FACTOR_REQUIRED"];
    expect([operationId, codes]).toEqual([
      operationId,
      expect.arrayContaining(["INACTIVE_USER", "EMAIL_NOT_VERIFIED", ...factor]),
    ]);
    // A limit of its own.
    expect(responses["429"]?.description).toContain("Logins");
  }
});
