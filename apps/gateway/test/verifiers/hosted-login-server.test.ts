/** The example of docs/hosted-login, as it is there: a server that keeps the tokens of hosted logins in sessions of its own. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import type { AuthorizationResponse } from "@latchkey/contracts";
import { inFullRun } from "@latchkey/testing/full-run";
import { ROOT } from "@latchkey/testing/repository";
import { freePort } from "@latchkey/testing/server-process";
import { startWithClients } from "../support/hosted-login.ts";
import type { Service } from "../support/service.ts";

const EXAMPLE = join(ROOT, "docs/hosted-login/server.mjs");
/** Each time that the example reads is 50 minutes later than the one before, so a token is due for renewal at its first use. */
const LATER = "const now = Date.now; let hours = 0; Date.now = () => now() + hours++ * 3_000_000;";

async function startExample({ url }: Pick<Service, "url">, app: string, port: number) {
  const form = app.startsWith("https:")
    ? /^__Host-.+; Secure; HttpOnly; SameSite=Lax/
    : /^(?!__)[^;]+; Path=\/; HttpOnly; SameSite=Lax/;
  const server = Bun.spawn([process.execPath, "-e", `${LATER} await import(${JSON.stringify(EXAMPLE)})`], {
    env: { ...process.env, LATCHKEY: url, APP: app, PORT: String(port) },
    ...{ stdout: "ignore", stderr: "ignore" },
  });
  const get = async (path: string, cookies = "", method = "GET") => {
    const init = { method, redirect: "manual", headers: { cookie: cookies } } as const;
    const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
    const set = response.headers.getSetCookie();
    expect(set.filter((cookie) => !form.test(cookie))).toEqual([]);
    return {
      status: response.status,
      location: response.headers.get("location") ?? "",
      text: await response.text(),
      cookies: set.map((cookie) => cookie.split(";")[0]).join("; "),
    };
  };
  while (server.exitCode === null && !(await get("/nowhere").catch(() => null))) await Bun.sleep(10);
  return {
    get,
    async [Symbol.asyncDispose]() {
      server.kill();
      await server.exited;
    },
  };
}

inFullRun(test)(
  "the server logs a visitor in, renews the token, and ends the session with the user's tokens",
  async () => {
    const port = freePort();
    const app = "https://app.example.com";
    const clients = [{ client_id: "web", name: "Example", redirect_uris: [`${app}/callback`] }];
    const env = { LOGIN_CLIENTS: JSON.stringify(clients), AUTH_RENEWAL_DAYS: "30" };
    await using service = await startWithClients({ env });
    const user = await service.createUser();
    await using server = await startExample(service, app, port);
    expect(await server.get("/")).toMatchObject({ status: 303, location: "/login" });
    const begun = await server.get("/login");
    const { searchParams, pathname } = new URL(begun.location);
    expect([begun.status, pathname]).toEqual([303, "/account/authorize"]);
    expect((await fetch(begun.location)).status).toBe(200);
    const { state, ...request } = Object.fromEntries(searchParams);
    const issued = await service.call("POST", "/auth/authorize", { token: user.token, body: request });
    const { code, iss } = issued.expect<AuthorizationResponse>(200);
    const callback = `/callback?${new URLSearchParams({ code, iss, state: state ?? "" })}`;
    expect((await server.get(callback)).status).toBe(400);
    expect((await server.get("/callback?code=x&state=y", begun.cookies)).status).toBe(400);
    const ended = await server.get(callback, begun.cookies);
    expect([ended.status, ended.location]).toEqual([303, "/"]);
    expect((await server.get("/", ended.cookies)).text).toBe(`Hello ${user.username}`);
    expect((await server.get(callback, begun.cookies)).status).toBe(400);
    expect((await server.get("/logout", ended.cookies)).status).toBe(405);
    await service.call("DELETE", "/auth/tokens", { token: user.token });
    expect((await server.get("/", ended.cookies)).location).toBe("/login");
    expect((await server.get("/logout", ended.cookies, "POST")).status).toBe(204);
  },
);

inFullRun(test)(
  "without TLS, its cookies have neither a prefix nor Secure: browsers would not keep them",
  async () => {
    const port = freePort();
    await using server = await startExample({ url: "http://127.0.0.1:9" }, `http://localhost:${port}`, port);
    expect((await server.get("/login")).cookies).toMatch(/^login=/);
  },
);
