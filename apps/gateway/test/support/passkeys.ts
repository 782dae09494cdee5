/** Enrolments and logins with passkeys over HTTP, in one call each. */
import type { Passkey } from "@latchkey/contracts";
import {
  type CreationOptions,
  createAuthenticator,
  type Deviations,
  type LoginOptions,
  ORIGIN,
} from "./authenticator.ts";
import { type Service, type ServiceOptions, startService, type TestUser } from "./service.ts";

export const startWithPasskeys = ({ env, ...options }: ServiceOptions = {}, start = startService) =>
  start({ ...options, env: { PASSKEY_ORIGINS: ORIGIN, ...env } });

type Caller = Pick<Service, "call">;
type Options<OfBrowser> = { readonly options: OfBrowser; readonly state: string };

/** A user whose e-mail is verified. */
export async function createVerified(service: Service): Promise<TestUser> {
  const user = await service.createUser();
  await service.database.users.update(user.id, { emailVerified: true });
  return user;
}

export const requestOptions = ({ call }: Caller, { token, password }: Pick<TestUser, "token" | "password">) =>
  call("POST", "/auth/passkeys/options", { token, body: { current_password: password } });

export async function creationOptions(service: Caller, user: TestUser) {
  return (await requestOptions(service, user)).expect<Options<CreationOptions>>(200);
}

/** Enrols a passkey and returns its authenticator. */
export async function enrol(service: Caller, user: TestUser, authenticator = createAuthenticator()) {
  const { options, state } = await creationOptions(service, user);
  const body = { state, response: authenticator.create(options), name: "Phone" };
  const created = await service.call("POST", "/auth/passkeys", { token: user.token, body });
  return { ...authenticator, passkey: created.expect<Passkey>(201) };
}

export async function loginOptions({ call }: Caller) {
  return (await call("POST", "/auth/login/passkey/options")).expect<Options<LoginOptions>>(200);
}

/** The body of a login. */
export async function loginBody(
  service: Caller,
  { get }: Pick<ReturnType<typeof createAuthenticator>, "get">,
  deviations: Deviations = {},
) {
  const { options, state } = await loginOptions(service);
  return { state, response: get(options, deviations) };
}

export const logIn = ({ call }: Caller, body: unknown) => call("POST", "/auth/login/passkey", { body });

/** What an operation on passkeys needs to succeed. */
export async function preparePasskey(operationId: string | undefined, service: Service, user: TestUser) {
  if (operationId === "createPasskeyOptions") return { body: { current_password: user.password } };
  if (operationId === "createPasskey") {
    const { options, state } = await creationOptions(service, user);
    return { body: { state, response: createAuthenticator().create(options), name: "Phone" } };
  }
  if (operationId !== "deletePasskey" && operationId !== "passkeyLogin") return {};
  const authenticator = await enrol(service, user);
  if (operationId === "deletePasskey") return { id: authenticator.id };
  return { body: await loginBody(service, authenticator) };
}
