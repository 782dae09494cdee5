/** What ordinary providers send besides what the standard describes, and what they do when their keys or credentials change. */
import { expect, test } from "bun:test";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { loginOidc, oidcVariables } from "../../support/identities.ts";
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
