/** What ordinary providers send besides what the standard describes, and what they do when their keys or credentials change. */
import { expect, test } from "bun:test";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { beginOidc, createVerifier, loginOidc, oidcVariables } from "../../support/identities.ts";
import { type ProviderReplies, startHostileProvider } from "../../support/openid/hostile-provider.ts";
import { startService } from "../../support/service.ts";

test.each(["one", "two"])(
  "a login succeeds after the provider replaced its key, now with the id %s",
  async (kid) => {
    await using provider = await startHostileProvider();
    await using service = await startService({ env: oidcVariables([provider]) });
    expect((await loginOidc(service, provider)).status).toBe(200);
    const { privateKey, publicKey } = await generateKeyPair("RS256");
    const jwk = { ...(await exportJWK(publicKey)), alg: "RS256", use: "sig", kid };
    const paths: string[] = [];
    provider.reply({
      respond: (path) => {
        paths.push(path);
        return path === "/jwks" ? Response.json({ keys: [jwk] }) : undefined;
      },
    });
    const signIdToken: ProviderReplies["signIdToken"] = (claims) =>
      new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid }).sign(privateKey);
    expect((await loginOidc(service, provider, { signIdToken })).status).toBe(200);
    expect(paths.filter((path) => path === "/token")).toHaveLength(1);
    // The former key: the keys were fetched less than a minute ago.
    paths.length = 0;
    expect((await loginOidc(service, provider)).status).toBe(401);
    expect(paths).not.toContain("/.well-known/openid-configuration");
  },
);

test("null counts as a missing claim, which the user info contains", async () => {
  await using provider = await startHostileProvider();
  await using service = await startService({ env: oidcVariables([provider]) });
  provider.reply({ userInfo: { sub: "1", email: "ada@example.org", email_verified: "true" } });
  expect((await loginOidc(service, provider, { claims: { email_verified: null } })).status).toBe(200);
});

test("credentials that the provider rejects are 503, and the log names the provider and its error", async () => {
  await using provider = await startHostileProvider();
  await using service = await startService({ env: oidcVariables([provider]) });
  const body = { error: "invalid_client", error_description: "expired\nsecret" };
  const headers = { "www-authenticate": 'Basic realm="provider"' };
  provider.reply({
    respond: (path) => (path === "/token" ? Response.json(body, { status: 401, headers }) : undefined),
  });
  const response = await loginOidc(service, provider);
  expect([response.status, response.body]).toMatchObject([503, { code: "PROVIDER_UNAVAILABLE" }]);
  provider.reply({});
  // An error of one login does not prevent the next one.
  expect((await loginOidc(service, provider)).status).toBe(200);
  expect(JSON.stringify(service.log)).toContain(
    "The provider example responded with invalid_client: expired?secret",
  );
});

test("an application on the user's machine redirects to any port of its page, and to nothing else", async () => {
  await using provider = await startHostileProvider();
  const pages = "http://127.0.0.1/callback,http://[::1]:1234/callback,https://app.example.com/callback";
  await using service = await startService({
    env: { ...oidcVariables([provider]), OIDC_REDIRECT_URIS: pages },
  });
  for (const redirectUri of ["http://127.0.0.1:51004/callback", "http://[::1]:51004/callback"]) {
    const { url, body } = await beginOidc(service, { redirectUri });
    expect(new URL(url).searchParams.get("redirect_uri")).toBe(redirectUri);
    const finish = { ...body, code: provider.authorize(url), iss: provider.issuer };
    expect((await service.call("POST", "/auth/login/oidc/example", { body: finish })).status).toBe(200);
  }
  for (const redirect_uri of [
    ...[
      "http://127.0.0.1:51004/other",
      "http://127.0.0.2:51004/callback",
      "https://127.0.0.1:51004/callback",
    ],
    ...["http://127.0.0.1:51004@example.com/callback", "https://app.example.com:51004/callback"],
    ...["http://localhost:51004/callback", "http://127.0.0.1:510040/callback"],
  ]) {
    const body = { redirect_uri, code_challenge: createVerifier().challenge };
    const refused = await service.call("POST", "/auth/login/oidc/example/options", { body });
    expect([redirect_uri, refused.status]).toEqual([redirect_uri, 422]);
  }
});
