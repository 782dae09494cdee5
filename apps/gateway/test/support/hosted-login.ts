/** An application that logs users in on the pages of the service. */
import { createHash } from "node:crypto";
import type { AuthorizationResponse } from "@latchkey/contracts";
import type { ClientResponse } from "./client.ts";
import { HOSTED_LOGIN, type Service, type ServiceOptions, startService } from "./service.ts";

const VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
export const CHALLENGE = createHash("sha256").update(VERIFIER).digest("base64url");
export const CALLBACK = "https://app.example.com/callback";
const REQUEST = { client_id: "web", redirect_uri: CALLBACK, code_challenge: CHALLENGE };

export const startWithClients = ({ env, ...options }: ServiceOptions = {}, start = startService) =>
  start({ ...options, env: { ...HOSTED_LOGIN, ...env } });

export const requestCode = ({ call }: Pick<Service, "call">, token: string, body: object = {}) =>
  call("POST", "/auth/authorize", { token, body: { ...REQUEST, ...body } });

export const codeOf = async (service: Pick<Service, "call">, token: string, body: object = {}) =>
  (await requestCode(service, token, body)).expect<AuthorizationResponse>(200).code;

export const FORM = { "content-type": "application/x-www-form-urlencoded" };

export const exchange = (
  { call }: Pick<Service, "call">,
  code: string,
  parameters: Readonly<Record<string, string>> = {},
): Promise<ClientResponse> => {
  const request = { grant_type: "authorization_code", client_id: "web", code, code_verifier: VERIFIER };
  const body = new URLSearchParams({ ...request, ...parameters }).toString();
  return call("POST", "/oauth/token", { headers: FORM, body });
};
