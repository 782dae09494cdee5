/**
 * Logins with `oidc-provider`, a certified provider, through its own pages. It runs in Node and is installed from the registry with
 * its own lockfile, so only in CI, and for Linux on x64.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import type { Token, User } from "@latchkey/contracts";
import { openFolder } from "@latchkey/testing/folder";
import { beginOidc, REDIRECT_URI } from "../../support/identities.ts";
import { CLIENT } from "../../support/openid/hostile-provider.ts";
import { eachDatabase, type Service } from "../../support/service.ts";

const SOURCE = join(import.meta.dir, "../../support/openid");

if (!process.env.CI) process.stderr.write("Tests with a certified provider are skipped: they run in CI.\n");

/** A browser without scripts: follows redirects with cookies, and submits the one form of a page. */
async function logInAt(authorizationUrl: string, login: string): Promise<URL> {
  const cookies = new Map<string, string>();
  let [url, body] = [new URL(authorizationUrl), undefined as URLSearchParams | undefined];
  for (;;) {
    const response = await fetch(url, {
      method: body ? "POST" : "GET",
      ...(body && { body }),
      headers: { cookie: Array.from(cookies, (pair) => pair.join("=")).join("; ") },
      redirect: "manual",
    });
    body = undefined;
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get("location");
    if (location !== null) {
      url = new URL(location, url);
      if (url.href.startsWith(REDIRECT_URI)) return url;
      continue;
    }
    const html = await response.text();
    const [, action] = /<form[^>]* action="([^"]+)"/.exec(html) ?? [];
    const [, prompt] = /name="prompt" value="(\w+)"/.exec(html) ?? [];
    if (action === undefined || prompt === undefined) throw new Error(`${response.status} ${html}`);
    url = new URL(action, url);
    body = new URLSearchParams({ prompt, ...(prompt === "login" && { login, password: "any" }) });
  }
}

describe.skipIf(!process.env.CI)("a certified provider", () => {
  const resources = new AsyncDisposableStack();
  let issuer = "";
  beforeAll(async () => {
    const folder = resources.use(await openFolder());
    for (const name of ["package.json", "bun.lock", "provider.mjs"])
      await cp(join(SOURCE, name), join(folder.path, name));
    const install = [process.execPath, "install", "--frozen-lockfile", "--ignore-scripts"];
    expect(Bun.spawnSync(install, { cwd: folder.path }).exitCode).toBe(0);
    const provider = Bun.spawn([join(folder.path, "node_modules/node/bin/node"), "provider.mjs"], {
      cwd: folder.path,
      env: { REDIRECT_URIS: JSON.stringify([REDIRECT_URI]) },
      stdout: "pipe",
      stderr: "ignore",
    });
    resources.defer(() => provider.kill());
    const { value } = await provider.stdout.getReader().read();
    ({ issuer } = JSON.parse(new TextDecoder().decode(value)));
  }, 120_000);
  afterAll(() => resources.disposeAsync());

  const login = async (
    service: Service,
    { sub, ...claims }: { readonly sub: string } & Readonly<Record<string, unknown>>,
  ) => {
    const { url, body } = await beginOidc(service);
    await fetch(`${issuer}/${sub}`, { method: "PUT", body: JSON.stringify(claims) });
    const redirect = await logInAt(url, sub);
    const parameters = Object.fromEntries(redirect.searchParams);
    expect(parameters).toMatchObject({ state: body.state, iss: issuer });
    const { code, iss } = parameters;
    return service.call("POST", "/auth/login/oidc/example", { body: { ...body, code, iss } });
  };

  eachDatabase((start) => {
    test("logs in the user that its first login has created, with the e-mail of its user info", async () => {
      const OIDC_PROVIDERS = JSON.stringify([{ name: "example", issuer, ...CLIENT }]);
      await using service = await start({ env: { OIDC_PROVIDERS, OIDC_REDIRECT_URIS: REDIRECT_URI } });
      const claims = { sub: "248289761001", email: "ada@example.org", preferred_username: "ada" };
      const ids = [];
      for (const more of [{ email_verified: true }, { email: "new@example.org", email_verified: false }]) {
        const { access_token: token } = (await login(service, { ...claims, ...more })).expect<Token>(200);
        const user = (await service.call("GET", "/auth/me", { token })).expect<User>(200);
        expect(user).toMatchObject({ email: claims.email, email_verified: true, username: "ada" });
        ids.push(user.id);
      }
      expect(new Set(ids).size).toBe(1);
      const unverified = await login(service, { sub: "2", email: "eve@example.org", email_verified: false });
      expect(unverified.body).toMatchObject({ code: "EMAIL_NOT_VERIFIED" });
      const state = "of another browser";
      const { url, body } = await beginOidc(service);
      const { code, iss } = Object.fromEntries((await logInAt(url, claims.sub)).searchParams);
      const path = "/auth/login/oidc/example";
      for (const change of [{ state }, { code_verifier: "x".repeat(43) }, { iss: undefined }])
        expect((await service.call("POST", path, { body: { ...body, code, iss, ...change } })).status).toBe(
          401,
        );
    });
  });
});
