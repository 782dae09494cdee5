/** Logins with limits per e-mail: the owner of one account, and clients with addresses of their own. */
import { expect } from "bun:test";
import type { ClientResponse } from "./client.ts";
import type { Service } from "./service.ts";

export const HOME = "192.0.2.1";
export const ABROAD = "198.51.100.7";
export const owner = { email: "owner@example.org", username: "owner", password: "correct horse battery" };
export const WRONG = "not the password";

/** High quotas per address, so that only the limits per e-mail are reached. */
export const THROTTLED = {
  RATE_LIMIT_ENABLED: "true",
  RATE_LIMIT_LOGIN: "1000/hour",
  RATE_LIMIT_REGISTER: "1000/hour",
  TRUST_PROXY: "1",
};

export const from = (address: string) => ({ headers: { "x-forwarded-for": address } });

export const logIn = (service: Service, address: string, body: object = owner): Promise<ClientResponse> =>
  service.call("POST", "/auth/login", { body, ...from(address) });

export async function register(service: Service, address = HOME): Promise<void> {
  const response = await service.call("POST", "/auth/register", { body: owner, ...from(address) });
  expect(response.status).toBe(201);
}

/** Takes all attempts of the e-mail from other networks. */
export async function exhaust(service: Service, email = owner.email): Promise<void> {
  for (let index = 0; index < 10; index++) {
    const response = await logIn(service, `203.0.113.${index}`, { email, password: WRONG });
    expect(response.status).toBe(401);
  }
}
