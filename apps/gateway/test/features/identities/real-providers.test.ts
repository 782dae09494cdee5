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

const [email, other] = ["ada@example.org", "other@example.org"];

test.each([
  [{ email_verified: null }, { email, email_verified: "true" }, 200],
  [{ email_verified: undefined }, { email, email_verified: true }, 200],
  [{ email: null, email_verified: null }, { email, email_verified: true }, 200],
  [{ email, email_verified: undefined }, { email_verified: true }, 200],
  [{ email: undefined, email_verified: true }, { email, email_verified: true }, 200],
  [{ email: undefined, email_verified: true }, { email }, 403],
  [{ email, email_verified: null }, { email: other }, 403],
  [{ email, email_verified: undefined }, { email, email_verified: false }, 403],
])("an ID token with %j and a user info with %j: %d", async (claims, userInfo, status) => {
  await using provider = await startHostileProvider();
  await using service = await startService({ env: oidcVariables([provider]) });
  provider.reply({ userInfo: { sub: "1", ...userInfo } });
  expect((await loginOidc(service, provider, { claims })).status).toBe(status);
});

/** A JWT without a signature, whose header says so. */
const unsigned = (claims: object): string =>
  `${[{ alg: "none" }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".")}.`;

test.each(["own", "foreign", "none"])("a user info can be a JWT, with the key: %s", async (kind) => {
  await using provider = await startHostileProvider();
  await using service = await startService({ env: oidcVariables([provider]) });
  const foreign = await generateKeyPair("RS256");
  let jwt = "";
  provider.reply({
    respond: (path) =>
      path === "/userinfo"
        ? new Response(jwt, { headers: { "content-type": "application/jwt" } })
        : undefined,
  });
  const signIdToken: ProviderReplies["signIdToken"] = async (
    { email_verified, ...claims },
    { privateKey },
  ) => {
    const { iss = "", aud = "", sub = "" } = claims;
    const userInfo = { iss, aud, sub, email, email_verified };
    const header = { alg: "RS256", kid: "one" };
    const key = kind === "own" ? privateKey : foreign.privateKey;
    const signed = await new SignJWT(userInfo).setProtectedHeader(header).sign(key);
    jwt = kind === "none" ? unsigned(userInfo) : signed;
    return new SignJWT(claims).setProtectedHeader(header).sign(privateKey);
  };
  const { status } = await loginOidc(service, provider, { signIdToken });
  expect(status).toBe(kind === "own" ? 200 : 401);
});

test("a clock that is 45 seconds ahead and a code of 8,192 characters log in", async () => {
  await using provider = await startHostileProvider();
  await using service = await startService({ env: oidcVariables([provider]) });
  const nbf = Math.floor(Date.now() / 1000) + 45;
  expect((await loginOidc(service, provider, { claims: { nbf, iat: nbf } })).status).toBe(200);
  let sent = "";
  provider.reply({
    respond: (path) => {
      sent = path;
      return path === "/token" ? Response.json({ error: "invalid_grant" }, { status: 400 }) : undefined;
    },
  });
  expect((await loginOidc(service, provider, {}, { code: "x".repeat(8_192) })).status).toBe(401);
  expect(sent).toBe("/token");
});

test.each([
  [undefined, undefined, null],
  [["client_secret_basic"], undefined, "Basic"],
  [["client_secret_basic", "client_secret_post"], undefined, null],
  [["client_secret_post"], "client_secret_basic", "Basic"],
])(
  "metadata with the methods %j and the setting %s authenticate with %s",
  async (methods, setting, scheme) => {
    await using provider = await startHostileProvider();
    const metadata = { token_endpoint_auth_methods_supported: methods };
    const authorizations: (string | null)[] = [];
    provider.reply({
      metadata,
      respond: (path, request) => {
        if (path === "/token") authorizations.push(request.headers.get("authorization"));
        return undefined;
      },
    });
    const settings = setting === undefined ? {} : { token_endpoint_auth_method: setting };
    await using service = await startService({ env: oidcVariables([provider, settings]) });
    expect((await loginOidc(service, provider)).status).toBe(200);
    expect(authorizations.map((value) => value?.split(" ")[0] ?? null)).toEqual([scheme]);
  },
);

test("a provider that limits the service is 503, and the log names the provider and its error", async () => {
  await using provider = await startHostileProvider();
  await using service = await startService({ env: oidcVariables([provider]) });
  const limited = Response.json({ error: "slow_down" }, { status: 429 });
  provider.reply({ respond: (path) => (path === "/token" ? limited : undefined) });
  expect((await loginOidc(service, provider)).status).toBe(503);
  await service.request("/healthz");
  expect(JSON.stringify(service.log)).toContain("example: The provider responded with 429: slow_down");
});

test.each([
  ["invalid_client", 401, 503, "rejected this client"],
  // Glewlwyd, for a wrong secret.
  ["unauthorized_client", 403, 503, "rejected this client"],
  ["invalid_grant", 400, 401, "rejected the code"],
  // Glewlwyd, for a code that is not valid.
  ["invalid_code", 403, 401, "rejected the code"],
])(
  "a token endpoint that answers %s with %d is %d, and the log names the error",
  async (error, status, expected, text) => {
    await using provider = await startHostileProvider();
    await using service = await startService({ env: oidcVariables([provider]) });
    const body = { error, error_description: "expired\nsecret" };
    const headers = { "www-authenticate": 'Basic realm="provider"' };
    provider.reply({
      respond: (path) => (path === "/token" ? Response.json(body, { status, headers }) : undefined),
    });
    expect((await loginOidc(service, provider)).status).toBe(expected);
    provider.reply({});
    // An error of one login does not prevent the next one.
    expect((await loginOidc(service, provider)).status).toBe(200);
    expect(JSON.stringify(service.log)).toContain(`The provider ${text}: ${error}: expired\\\\u000asecret`);
  },
);

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
