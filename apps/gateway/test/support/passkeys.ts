/** Enrolments and logins with passkeys over HTTP, in one call each. */
import type { Passkey } from "@latchkey/contracts";
import { createAuthenticator, type Deviations, ORIGIN, type PasskeyOptions } from "./authenticator.ts";
import { type Service, type ServiceOptions, startService, type TestUser } from "./service.ts";

export const startWithPasskeys = ({ env, ...options }: ServiceOptions = {}, start = startService) =>
  start({ ...options, env: { PASSKEY_ORIGINS: ORIGIN, ...env } });

type Caller = Pick<Service, "call">;
/** The options and the state of a creation or a login. */
type Begun = { readonly options: PasskeyOptions; readonly state: string };
type Authenticator = Pick<ReturnType<typeof createAuthenticator>, "create" | "get">;

/** Without a password, the user must have logged in recently. */
type PasskeyUser = Pick<TestUser, "token"> & { readonly password: string | undefined };

/** A user whose e-mail is verified. */
export async function createVerified(service: Service): Promise<TestUser> {
  const user = await service.createUser();
  await service.database.users.update(user.id, { emailVerified: true });
  return user;
}

export const requestCreation = ({ call }: Caller, { token, password }: PasskeyUser) =>
  call("POST", "/auth/passkeys/options", { token, body: { current_password: password } });

export const beginCreation = async (service: Caller, user: PasskeyUser) =>
  (await requestCreation(service, user)).expect<Begun>(200);

/** The body of a creation. */
export const creationBody = (
  { options, state }: Begun,
  deviations: Deviations = {},
  { create }: Authenticator = createAuthenticator(),
) => ({ state, response: create(options, deviations), name: "Phone" });

export const create = ({ call }: Caller, { token }: Pick<TestUser, "token">, body: object) =>
  call("POST", "/auth/passkeys", { token, body });

/** Enrols a passkey and returns its authenticator. */
export async function enrol(service: Caller, user: PasskeyUser, authenticator = createAuthenticator()) {
  const body = creationBody(await beginCreation(service, user), {}, authenticator);
  return { ...authenticator, passkey: (await create(service, user, body)).expect<Passkey>(201) };
}

export const beginLogin = async ({ call }: Caller) =>
  (await call("POST", "/auth/login/passkey/options")).expect<Begun>(200);

/** The body of a login. */
export async function loginBody(service: Caller, { get }: Authenticator, deviations: Deviations = {}) {
  const { options, state } = await beginLogin(service);
  return { state, response: get(options, deviations) };
}

export const logIn = ({ call }: Caller, body: unknown) => call("POST", "/auth/login/passkey", { body });

/** What an operation on passkeys needs to succeed. */
export async function preparePasskey(operationId: string | undefined, service: Service, user: TestUser) {
  if (operationId === "createPasskeyOptions") return { body: { current_password: user.password } };
  if (operationId === "createPasskey") return { body: creationBody(await beginCreation(service, user)) };
  if (!["deletePasskey", "removePasskey", "passkeyLogin"].includes(operationId ?? "")) return {};
  const authenticator = await enrol(service, user);
  const { id } = authenticator;
  if (operationId === "deletePasskey") return { id };
  if (operationId === "removePasskey") return { id, body: { current_password: user.password } };
  return { body: await loginBody(service, authenticator) };
}
