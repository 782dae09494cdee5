/** Second factors over HTTP, with an application that shows codes. */
import type { CreateFactorResponse } from "@latchkey/contracts";
import { stepAt, totpOf } from "../../src/features/second-factor/totp.ts";
import { importTokenKeys } from "../../src/tokens/token-keys.ts";
import type { ClientResponse } from "./client.ts";
import { SECRET_KEY, type Service, type ServiceOptions, startService, type TestUser } from "./service.ts";

export const startWithFactors = ({ env, ...options }: ServiceOptions = {}, start = startService) =>
  start({ ...options, env: { AUTH_SECOND_FACTOR: "true", ...env } });

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

function fromBase32(text: string): Buffer {
  const bits = [...text].map((letter) => BASE32.indexOf(letter).toString(2).padStart(5, "0")).join("");
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

/**
 * An application that shows codes. 0 is the code of the time of this call, -1 and 1 are those before and after. The service accepts 1
 * for 60 seconds, so a test does not depend on the time at which it runs.
 */
export function createApplication(secret: string) {
  const bytes = fromBase32(secret);
  const present = stepAt(Date.now());
  return { at: (step: number): string => totpOf(bytes, present + step) };
}

export type Application = ReturnType<typeof createApplication>;

/** Returns the code that the mailbox of the user gets. */
export async function mailedCode(
  { config, sql, readUser }: Service,
  { id }: Pick<TestUser, "id">,
): Promise<string> {
  const [row] = await sql<{ state: string }>(
    `select state from outbox where kind = 'factor-code' and user_id = ${id} order by id desc limit 1`,
  );
  const state = row?.state ?? "";
  await sql(
    `update outbox set attempted_at = created_at, next_attempt_at = null, email_digest = 'sent' where state = '${state}'`,
  );
  const { factorStates } = await importTokenKeys(config.tokenKeys, () => SECRET_KEY);
  return factorStates.emailCodeOf(state, await readUser(id));
}

export interface FactorOptions {
  readonly secret: string;
  readonly uri: string;
  readonly state: string;
}

export const requestFactor = (
  { call }: Pick<Service, "call">,
  { token, password }: Pick<TestUser, "token" | "password">,
  body: object = {},
): Promise<ClientResponse> =>
  call("POST", "/auth/factor/options", { token, body: { current_password: password, ...body } });

/** A user whose e-mail is verified. */
export async function createVerified(service: Service): Promise<TestUser> {
  const user = await service.createUser();
  await service.database.users.update(user.id, { emailVerified: true });
  return user;
}

/** Sets up a second factor with the code 0 of the application, so that 1 can log in. */
export async function enrolFactor(service: Service, user: TestUser, options: object = {}) {
  const { secret, state, uri } = (await requestFactor(service, user, options)).expect<FactorOptions>(200);
  const application = createApplication(secret);
  const body = { state, code: application.at(0), email_code: await mailedCode(service, user) };
  const response = await service.call("POST", "/auth/factor", { token: user.token, body });
  const { access_token, recovery_codes } = response.expect<CreateFactorResponse>(201);
  return { ...user, token: access_token, recoveryCodes: recovery_codes, application, secret, uri };
}

/** Returns the state of a login whose first factor is right. */
export const factorStateOf = (response: ClientResponse): string =>
  response.expect<{ state: string }>(403).state;

export const beginLogin = async (
  { call }: Pick<Service, "call">,
  { email, password }: Pick<TestUser, "email" | "password">,
): Promise<string> => factorStateOf(await call("POST", "/auth/login", { body: { email, password } }));

export const completeLogin = ({ call }: Pick<Service, "call">, state: string, code: string) =>
  call("POST", "/auth/login/factor", { body: { state, code } });
