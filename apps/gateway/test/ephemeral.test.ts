/** The service of an application's tests, as its tests start it. */
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { User } from "@latchkey/contracts";
import { querySqlite } from "@latchkey/testing/sqlite";
import { newCredentials } from "./support/service.ts";

const MAIN = join(import.meta.dir, "../src/main.ts");

/** The line that the service prints. */
interface Started {
  readonly url: string;
  readonly outbox: string;
  readonly database: string;
  readonly administration: { readonly url: string; readonly key: string };
}

/** Waits for a condition that another process fulfils. */
async function until<Value>(read: () => Promise<Value | undefined>): Promise<Value> {
  for (;;) {
    const value = await read();
    if (value !== undefined) return value;
    await Bun.sleep(10);
  }
}

test("an ephemeral service prints one line, gives a user in a known state, writes mails to files, and leaves nothing", async () => {
  const variables = {
    ...{ DATABASE_URL: "file:./data/latchkey.db", PORT: "3000", NODE_ENV: "production" },
    MAIL_URL_FILE: "/run/secrets/mail-url",
    PUBLIC_URL: "https://accounts.example.com",
    LOGIN_CLIENTS: '[{"client_id":"web","name":"Example","redirect_uris":["http://127.0.0.1/callback"]}]',
  };
  await using service = Bun.spawn([process.execPath, MAIN, "--ephemeral"], {
    env: { PATH: process.env.PATH ?? "", ...variables },
    stdout: "pipe",
    stderr: "pipe",
  });
  const reader = service.stdout.getReader();
  const { value = new Uint8Array() } = await reader.read();
  const { url, outbox, database, administration } = JSON.parse(new TextDecoder().decode(value)) as Started;

  const send = async <Body>(address: string, method: string, body: object, headers = {}): Promise<Body> => {
    const response = await fetch(address, {
      method,
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
    expect(response.ok).toBe(true);
    return (await response.json()) as Body;
  };
  const authorization = { authorization: `Bearer ${administration.key}` };
  const users = `${administration.url}/users`;
  const credentials = newCredentials();
  const { id } = await send<User>(users, "POST", credentials, authorization);
  await send(`${users}/${id}`, "PATCH", { email_verified: true, roles: ["editor"] }, authorization);
  await send(`${url}/auth/login`, "POST", credentials);
  const metadata = await fetch(`${url}/.well-known/oauth-authorization-server`);
  expect(await metadata.json()).toMatchObject({ issuer: url });

  const other = newCredentials();
  await send(`${url}/auth/register`, "POST", other);
  const mail = await until(async () => {
    const [name] = await readdir(outbox);
    return name && (await Bun.file(join(outbox, name)).text());
  });
  expect(mail).toContain(`To: ${other.email}`);
  expect(mail).toContain(`${url}/account/`);
  expect(await querySqlite(database, "select email from users order by id")).toEqual([
    { email: credentials.email },
    { email: other.email },
  ]);

  service.kill("SIGTERM");
  expect(await service.exited).toBe(0);
  expect((await reader.read()).done).toBe(true);
  expect(await service.stderr.text()).toBe("");
  expect(existsSync(dirname(outbox))).toBe(false);
});
