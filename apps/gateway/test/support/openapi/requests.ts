/** For each status, a request that produces it, for any operation. */
import { BODY_MAX_BYTES, type Identity, type Todo } from "@latchkey/contracts";
import { DatabaseUnavailable } from "@latchkey/database";
import { privateKeyVariables } from "@latchkey/testing/keys";
import { OPTIONAL_FEATURES } from "../../../src/features/optional-features.ts";
import { mapMembers } from "../../../src/map-members.ts";
import { createLoginCodes } from "../../../src/tokens/login-codes.ts";
import type { Purpose, TokenUser } from "../../../src/tokens/one-time-tokens.ts";
import { createPasskeyChallenges } from "../../../src/tokens/passkey-challenges.ts";
import { loginOidc, newClaims, oidcBody, oidcVariables, prepareIdentity, tokenOf } from "../identities.ts";
import { beginEmailChange, signOneTimeToken } from "../one-time-token.ts";
import { type HostileProvider, startHostileProvider } from "../openid/hostile-provider.ts";
import { createVerified, enrol, preparePasskey } from "../passkeys.ts";
import { EVERY_FEATURE, newCredentials, SECRET_KEY, type Service, startService } from "../service.ts";
import { openWire } from "../wire.ts";
import type { ReceivedResponse } from "./contract.ts";
import type { NamedOperation } from "./document.ts";

/** Differences from the valid request without a token. */
interface Variation {
  readonly token?: string;
  readonly body?: unknown;
  readonly id?: unknown;
  readonly query?: string;
}

const passkeyChallenges = createPasskeyChallenges([SECRET_KEY]);
const loginCodes = createLoginCodes([SECRET_KEY]);

const PREPARED = OPTIONAL_FEATURES.filter(({ name }) => name !== "secondFactor" && name !== "hostedLogin");

/** The variables of a service with every operation, except those of features with tests of their own. */
export const variablesWith = (provider: HostileProvider) => ({
  ...Object.fromEntries(PREPARED.flatMap(({ example }) => Object.entries(example))),
  ...EVERY_FEATURE,
  ...oidcVariables([provider]),
  // Otherwise, the operations of release 2.0 remove nothing.
  AUTH_REQUIRE_CURRENT_PASSWORD: "false",
});

/** Its tokens are genuine. */
const anybody: TokenUser = {
  ...{ id: 1, email: "", emailVerified: true, hashedPassword: "", tokenVersion: 0 },
  ...{ pendingEmail: null, importedHash: null, linkRevision: 0 },
};

const PURPOSES = new Map<string, Purpose>([
  ["confirmPasswordReset", "reset"],
  ["approveEmailChange", "email-change-approval"],
  ["confirmEmailChange", "email-change"],
]);

/** The example of the document, with credentials that no user has and the one-time token of a user. */
export function validBody({ body, operationId = "" }: NamedOperation, user = anybody) {
  if (!body) return undefined;
  const example = body.example ?? mapMembers(body.properties, (property) => property.example);
  const purpose = PURPOSES.get(operationId) ?? "verification";
  const credentials = newCredentials();
  const { state } =
    operationId === "emailLogin"
      ? loginCodes.begin(credentials.email)
      : passkeyChallenges.sign("passkey-login");
  const token = signOneTimeToken(purpose, user);
  const values = { ...credentials, current_password: credentials.password, token, state };
  return { ...example, ...Object.fromEntries(Object.entries(values).filter(([name]) => name in example)) };
}

function send(service: Service, operation: NamedOperation, variation: Variation = {}) {
  const { method, path } = operation;
  const { token, id = 1, query = "", body = validBody(operation) } = variation;
  return service.call(method, path.replace("{id}", String(id)).replace("{name}", "example") + query, {
    body,
    ...(token !== undefined && { token }),
  });
}

/** All but `publishing` and `withoutMail` use the same key, so each accepts the tokens of the others. */
export async function startSubjects() {
  const provider = await startHostileProvider();
  const variables = variablesWith(provider);
  const subjects = {
    working: await startService({ env: variables }),
    /** Publishes the key of its tokens. */
    publishing: await startService({ env: { ...variables, ...privateKeyVariables("EdDSA") } }),
    withoutMail: await startService({ env: { ...oidcVariables([provider]), ...WITHOUT_MAIL } }),
    /** Allows one request per hour. */
    limited: await startService({
      env: { ...variables, RATE_LIMIT_ENABLED: "true", RATE_LIMIT_DEFAULT: "1/hour" },
    }),
    /** Every call of its database rejects with an unexpected error, or as unavailable. */
    failing: await startBroken(variables, () => new Error("unexpected")),
    unavailable: await startBroken(variables, () => new DatabaseUnavailable("ECONNREFUSED")),
  };
  return {
    ...subjects,
    provider,
    variables,
    async [Symbol.asyncDispose]() {
      for (const service of Object.values(subjects)) await service[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
    },
  };
}

/** What the operation needs to succeed: a user with a token, and a todo. Those of identities also need the provider. */
export async function prepareSuccess(
  service: Service,
  operation: NamedOperation,
  provider?: HostileProvider,
) {
  const created = await createVerified(service);
  const { id: userId, email, password, token } = created;
  const user = await beginEmailChange(service, userId, newCredentials().email);
  const body = operation.operationId === "login" ? { email, password } : validBody(operation, user);
  const todo = await service.call("POST", "/todos", { body: { title: "Buy milk" } });
  const { operationId } = operation;
  return {
    ...{ id: todo.expect<Todo>(201).id, token, body },
    ...(await preparePasskey(operationId, service, created)),
    ...(provider && (await prepareIdentity(operationId, service, provider, created))),
  };
}

type Subjects = Awaited<ReturnType<typeof startSubjects>>;
type Produce = (operation: NamedOperation, subjects: Subjects) => Promise<ReceivedResponse>;

/** By status; `2xx` is any success. */
export const PRODUCERS: Readonly<Record<string, Produce>> = {
  "2xx": async (operation, { working, provider }) =>
    send(working, operation, await prepareSuccess(working, operation, provider)),
  async 400(operation, { working }) {
    const { token } = await working.createUser();
    return send(working, operation, { token, body: { ...validBody(operation), token: "forged" } });
  },
  401: (operation, { working }) => send(working, operation, { token: "not.a.token" }),
  async 403(operation, { working, publishing, provider }) {
    const service = /login/i.test(operation.operationId ?? "") ? publishing : working;
    const success = await prepareSuccess(service, operation, provider);
    await service.sql("update users set is_active = false");
    return send(service, operation, success);
  },
  async 404(operation, { working }) {
    const { token } = await working.createUser();
    await working.call("DELETE", "/auth/me", { token });
    return send(working, operation, { token, id: Number.MAX_SAFE_INTEGER });
  },
  async 409(operation, subjects) {
    const { working, provider } = subjects;
    const { operationId } = operation;
    if (/^(delete|remove)(Identity|Passkey)$/.test(operationId ?? ""))
      return deleteLastLogin(operation, subjects);
    const { email, username, password } = await working.createUser();
    const { id, token } = await createVerified(working);
    if (operationId === "confirmEmailChange")
      return send(working, operation, {
        token,
        body: validBody(operation, await beginEmailChange(working, id, email)),
      });
    const claims = newClaims();
    if (operationId === "addIdentity") await loginOidc(working, provider, { claims });
    const isOidc = operationId === "oidcLogin" || operationId === "addIdentity";
    const body = {
      ...{ email, username, password, current_password: password },
      ...(isOidc && (await oidcBody(working, provider, { claims }))),
    };
    return send(working, operation, { id: isOidc ? "example" : 1, token, body });
  },
  async 413({ method, path }, { working }) {
    const target = path.replace("{id}", "1");
    using wire = await openWire(working);
    wire.send(`${method} ${target} HTTP/1.1\r\nHost: x\r\nContent-Length: ${BODY_MAX_BYTES + 1}\r\n\r\n`);
    const response = await wire.readResponse(method);
    if (!response) throw new Error("No response");
    const headers = new Headers(response.headers.map(([name, value]): [string, string] => [name, value]));
    return { status: response.status, headers, text: String(response.body) };
  },
  async 422(operation, { working }) {
    const { token } = await working.createUser();
    const query = `?${(operation.parameters ?? []).map(({ name }) => `${name}=x`).join("&")}`;
    const sendMembers = (value: unknown) =>
      send(working, operation, {
        ...{ token, query, id: value },
        body: operation.body && mapMembers(operation.body.properties, () => value),
      });
    const response = await sendMembers("x");
    // Any text can be a one-time token or, without U+0000, the id of a passkey.
    return response.status === 422 ? response : sendMembers(operation.body ? 1 : "%00");
  },
  async 429(operation, { limited }) {
    await send(limited, operation);
    return send(limited, operation);
  },
  async 500(operation, { failing, working }) {
    const { token } = await working.createUser();
    return send(failing, operation, { token });
  },
  async 503(operation, { unavailable, working }) {
    const { token } = await working.createUser();
    return send(unavailable, operation, { token });
  },
};

/** In production, there is no mail unless it is configured. */
const WITHOUT_MAIL = {
  NODE_ENV: "production",
  AUTH_SECRET_KEY: "production 0123456789 abcdefghij",
  PASSKEY_ORIGINS: EVERY_FEATURE.PASSKEY_ORIGINS,
  AUTH_REQUIRE_CURRENT_PASSWORD: "false",
};

/** Deletes the only way in which a user can log in. */
async function deleteLastLogin(operation: NamedOperation, { withoutMail, provider }: Subjects) {
  const token = tokenOf(await loginOidc(withoutMail, provider, { claims: newClaims() }));
  const me = { token, password: undefined };
  const body = {};
  if (operation.operationId?.endsWith("Passkey")) {
    const { id } = await enrol(withoutMail, me);
    await withoutMail.sql("delete from identities");
    return send(withoutMail, operation, { token, id, body });
  }
  const list = await withoutMail.call("GET", "/auth/identities", { token });
  return send(withoutMail, operation, { token, id: list.expect<Identity[]>(200)[0]?.id, body });
}

function startBroken(env: Readonly<Record<string, string>>, error: () => Error): Promise<Service> {
  const fail = () => {
    throw error();
  };
  const refuse = () => Promise.reject(error());
  const refuseAll = <Part extends object>(part: Part): Part => new Proxy(part, { get: () => refuse });
  return startService({
    env,
    // The operations that begin and end a login read these before they use the database, if they do.
    configure: (config) => ({
      ...config,
      variables: {
        ...config.variables,
        OIDC_REDIRECT_URIS: Object.assign([""], { includes: fail, find: fail }),
      },
    }),
    wrapDatabase: ({ users, passkeys, todos, outbox }) => ({
      users: refuseAll(users),
      passkeys: refuseAll(passkeys),
      todos: refuseAll(todos),
      outbox: refuseAll(outbox),
      ping: refuse,
    }),
  });
}
