/** Clients of the service. */
import type { Token } from "@latchkey/contracts";
import { openDatabase } from "@latchkey/database";
import { bindImportedHash } from "@latchkey/hashing";
import { type CallOptions, callService } from "../../test/support/client.ts";

/** More than one page. */
const TODOS = 25;

/** Returns the response to a POST request, or one of another method, with the time until it was complete. */
export async function send(url: string, options: CallOptions, method = "POST") {
  const sentMs = performance.now();
  const response = await callService(url, method, options);
  return { ...response, ms: performance.now() - sentMs };
}

/** The same. @throws {Error} if the status is another one */
export async function sendExpecting(status: number, ...request: Parameters<typeof send>) {
  const response = await send(...request);
  response.expect(status);
  return response;
}

/** Returns an access token. */
export const logIn = async (url: string, user: { readonly email: string; readonly password: string }) =>
  (await send(`${url}/auth/login`, { body: user })).expect<Token>(200).access_token;

/** Creates todos and a user; returns the request headers that authenticate this user. */
export async function seed(url: string): Promise<{ readonly authorization: string }> {
  const user = { email: "bench@example.org", username: "bench", password: "correct horse battery" };
  for (let index = 1; index <= TODOS; index++)
    await send(`${url}/todos`, { body: { title: `Todo number ${index}` } });
  await send(`${url}/auth/register`, { body: user });
  return { authorization: `Bearer ${await logIn(url, user)}` };
}

/** The e-mail of a user that `importUsers` creates. */
const emailOf = (username: string): string => `${username.replace(/\W+/g, "-")}@example.org`;

/** Sends a login with a wrong password. */
export const failLogin = (url: string, username: string) =>
  send(`${url}/auth/login`, { body: { email: emailOf(username), password: "not the password" } });

/** Imports users with these hashes by username. */
export async function importUsers(databaseUrl: string, hashes: Readonly<Record<string, string>>) {
  await using database = await openDatabase({ url: databaseUrl });
  const users = Object.entries(hashes).map(([username, importedHash]) => {
    const hashedPassword = bindImportedHash(importedHash);
    return { email: emailOf(username), username, hashedPassword, importedHash };
  });
  await database.users.import(users);
}
