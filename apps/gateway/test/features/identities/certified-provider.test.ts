/** Logins with `oidc-provider`, a certified provider, through its own pages. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Token, User } from "@latchkey/contracts";
import { beginOidc, REDIRECT_URI } from "../../support/identities.ts";
import { type ProviderUser, startCertifiedProvider } from "../../support/openid/certified-provider.ts";
import { CLIENT } from "../../support/openid/hostile-provider.ts";
import { eachDatabase, type Service } from "../../support/service.ts";

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
  let provider: Awaited<ReturnType<typeof startCertifiedProvider>>;
  beforeAll(async () => {
    provider = await startCertifiedProvider([REDIRECT_URI]);
  }, 120_000);
  afterAll(() => provider[Symbol.asyncDispose]());

  const login = async (service: Service, user: ProviderUser) => {
    const { url, body } = await beginOidc(service);
    await provider.setUser(user);
    const redirect = await logInAt(url, user.sub);
    const parameters = Object.fromEntries(redirect.searchParams);
    expect(parameters).toMatchObject({ state: body.state, iss: provider.issuer });
    const { code, iss } = parameters;
    return service.call("POST", "/auth/login/oidc/example", { body: { ...body, code, iss } });
  };

  eachDatabase((start) => {
    test("logs in the user that its first login has created, with the e-mail of its user info", async () => {
      const OIDC_PROVIDERS = JSON.stringify([{ name: "example", issuer: provider.issuer, ...CLIENT }]);
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
