/** Which responses of a provider, and which requests of an application, do not log in. The provider can send anything. */
import { afterEach, describe, expect, setSystemTime, test } from "bun:test";
import { inFullRun } from "@latchkey/testing/full-run";
import { SignJWT } from "jose";
import {
  beginOidc,
  createVerifier,
  loginOidc,
  oidcBody,
  oidcVariables,
  REDIRECT_URI,
  tokenOf,
} from "../../support/identities.ts";
import { CLIENT, type ProviderReplies, startHostileProvider } from "../../support/openid/hostile-provider.ts";
import { type Service, startService } from "../../support/service.ts";

/** After an error, the provider is asked again after a second at the earliest. */
const passSecond = () => setSystemTime(Date.now() + 1_000);
afterEach(() => void setSystemTime());

/** JSON of this many levels, which `JSON.parse` accepts. */
const nested = (levels: number) => JSON.parse("[".repeat(levels) + "]".repeat(levels)) as unknown;

describe("a login is rejected", () => {
  const rejected = async (
    replies: ProviderReplies,
    { service, provider }: { service: Service; provider: Awaited<ReturnType<typeof startHostileProvider>> },
    body: Record<string, string> = {},
  ) => {
    const response = await loginOidc(service, provider, replies, body);
    expect([response.status, response.body]).toMatchObject([401, { code: "IDENTITY_REJECTED" }]);
  };
  const now = () => Math.floor(Date.now() / 1000);

  test("for an ID token of another audience, issuer, party, nonce, key or algorithm, and for an expired one", async () => {
    await using provider = await startHostileProvider();
    await using service = await startService({ env: oidcVariables([provider]) });
    const context = { service, provider };
    for (const claims of [
      { aud: "another" },
      { aud: [CLIENT.client_id, "another"] },
      { azp: "another" },
      { iss: "https://another.example.com" },
      { nonce: "another" },
      { nonce: undefined },
      { exp: now() - 120, iat: now() - 180 },
      { sub: undefined },
    ])
      await rejected({ claims }, context);
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const another = await crypto.subtle.generateKey(
      {
        name: "RSASSA-PKCS1-v1_5",
        modulusLength: 2048,
        publicExponent: new Uint8Array([1, 0, 1]),
        hash: "SHA-256",
      },
      true,
      ["sign", "verify"],
    );
    const signers: ProviderReplies["signIdToken"][] = [
      (claims) => `${part({ alg: "none" })}.${part(claims)}.`,
      (claims, { publicJwk }) =>
        new SignJWT(claims)
          .setProtectedHeader({ alg: "HS256" })
          .sign(new TextEncoder().encode(JSON.stringify(publicJwk))),
      (claims) =>
        new SignJWT(claims)
          .setProtectedHeader({ alg: "HS256" })
          .sign(new TextEncoder().encode(CLIENT.client_secret)),
      (claims) =>
        new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid: "one" }).sign(another.privateKey),
    ];
    for (const signIdToken of signers) await rejected({ ...(signIdToken && { signIdToken }) }, context);
    expect(await service.database.users.list({ after: 0, limit: 1 })).toEqual([]);
  });

  test("for a state, verifier, code or issuer of another request", async () => {
    await using provider = await startHostileProvider();
    await using other = await startHostileProvider();
    const providers = oidcVariables([provider], [other, { name: "other" }]);
    await using service = await startService({ env: providers });
    const context = { service, provider };
    const another = await beginOidc(service);
    await rejected({}, context, { state: another.body.state });
    await rejected({}, context, { state: "forged" });
    await rejected({}, context, { code_verifier: createVerifier().verifier });
    await rejected({}, context, { code: provider.authorize(another.url) });
    await rejected({}, context, { code: "unknown" });
    await rejected({}, context, { iss: other.issuer });
    // The provider announces that it states its issuer.
    const begun = await beginOidc(service);
    const code = provider.authorize(begun.url);
    const login = (name: string, body: object) => service.call("POST", `/auth/login/oidc/${name}`, { body });
    expect((await login("example", { ...begun.body, code })).status).toBe(401);
    // Mix-up: the response of one provider at the door of another, which has the same subject.
    expect((await login("other", { ...begun.body, code, iss: provider.issuer })).status).toBe(401);
    expect((await login("other", { ...begun.body, code, iss: other.issuer })).status).toBe(401);
    // It does not get the code.
    expect(other.requests()).toBe(0);
    const stated = { ...begun.body, code, iss: provider.issuer };
    expect((await login("example", stated)).status).toBe(200);
    expect((await login("example", stated)).status).toBe(401);
    const mixed = tokenOf(
      await loginOidc(service, other, { claims: { email: "eve@example.org" } }, { name: "other" }),
    );
    const { body: user } = await service.call("GET", "/auth/me", { token: mixed });
    expect(user).toMatchObject({ email: "eve@example.org" });
    const reasons = service.log.filter(({ event }) => event === "identity.rejected");
    expect(reasons).toContainEqual(expect.objectContaining({ reason: "verifier", provider: "example" }));
    const configurations = [
      { ...providers, OIDC_REDIRECT_URIS: "https://app.example.com/other" },
      { ...providers, OIDC_PROVIDERS: String(providers.OIDC_PROVIDERS).replace(CLIENT.client_id, "renamed") },
    ];
    for (const env of configurations) {
      await using changed = await startService({ env });
      const { url, body } = await beginOidc(service);
      const sent = { ...body, code: provider.authorize(url), iss: provider.issuer };
      expect((await changed.call("POST", "/auth/login/oidc/example", { body: sent })).status).toBe(401);
    }
  });

  test("before it begins, for an unknown provider and for any other page than the configured ones", async () => {
    await using provider = await startHostileProvider();
    await using service = await startService({ env: oidcVariables([provider]) });
    const begin = async (
      redirect_uri: string,
      name = "example",
      code_challenge = createVerifier().challenge,
    ) => {
      const body = { redirect_uri, code_challenge };
      return (await service.call("POST", `/auth/login/oidc/${name}/options`, { body })).status;
    };
    expect(await begin(REDIRECT_URI)).toBe(200);
    expect(await begin("com.example.app:/callback")).toBe(200);
    for (const uri of [
      `${REDIRECT_URI}/`,
      REDIRECT_URI.toUpperCase(),
      REDIRECT_URI.replace(".com", ".com:443"),
      REDIRECT_URI.replace(".com", ".com."),
      `${REDIRECT_URI}?next=x`,
      `${REDIRECT_URI}#x`,
      `${REDIRECT_URI}\n`,
      "https://app.example.com.attacker.net/callback",
      "",
    ])
      expect(await begin(uri)).toBe(422);
    expect(await begin(REDIRECT_URI, "unknown")).toBe(422);
    expect(await begin(REDIRECT_URI, "example", "plain")).toBe(422);
  });

  test("with 503 while the provider is down, slow, endless or wrong, and accepted a second after it recovers", async () => {
    await using provider = await startHostileProvider();
    await using service = await startService({ env: oidcVariables([provider]) });
    const login = async () =>
      (await loginOidc(service, provider).catch((error: Error) => error.message)) as { status: number };
    const begin = async () => {
      const body = { redirect_uri: REDIRECT_URI, code_challenge: createVerifier().challenge };
      passSecond();
      return service.call("POST", "/auth/login/oidc/example/options", { body });
    };
    for (const respond of [
      () => new Response(null, { status: 500 }),
      () => new Response("not JSON"),
      () => Response.json({ issuer: "https://another.example.com" }),
    ]) {
      provider.reply({ respond });
      const { status, body } = await begin();
      expect([status, body]).toMatchObject([503, { code: "PROVIDER_UNAVAILABLE" }]);
    }
    for (const metadata of [
      { authorization_endpoint: undefined },
      { authorization_endpoint: "javascript:alert(1)" },
      { token_endpoint: 1 },
      { jwks_uri: "not a URL" },
    ]) {
      provider.reply({ metadata });
      expect((await begin()).status).toBe(503);
    }
    // Otherwise valid, but of 10 MB.
    provider.reply({ metadata: { padding: "x".repeat(10 * 1024 * 1024) } });
    expect((await begin()).status).toBe(503);
    provider.reply({ respond: () => Bun.sleep(6_000).then(() => new Response(null)) });
    const startedAt = performance.now();
    expect((await begin()).status).toBe(503);
    expect(performance.now() - startedAt).toBeWithin(4_900, 5_990);
    provider.reply({});
    passSecond();
    expect((await login()).status).toBe(200);
    const requests = provider.requests();
    expect((await begin()).status).toBe(200);
    expect(provider.requests()).toBe(requests);
    provider.reply({
      respond: (path) => (path === "/token" ? new Response(null, { status: 502 }) : undefined),
    });
    expect((await login()).status).toBe(503);
  });

  inFullRun(test)("with 503 after eight seconds if each request of a login is slow", async () => {
    await using provider = await startHostileProvider();
    await using service = await startService({ env: oidcVariables([provider]) });
    const body = await oidcBody(service, provider, { claims: { email: undefined } });
    provider.reply({ userInfo: {}, respond: () => Bun.sleep(3_000).then(() => undefined) });
    const startedAt = performance.now();
    const response = await service.call("POST", "/auth/login/oidc/example", { body });
    expect([response.status, response.body]).toMatchObject([503, { code: "PROVIDER_UNAVAILABLE" }]);
    // Without the limit, twelve. The default timeout of the client is ten.
    expect(performance.now() - startedAt).toBeWithin(7_900, 10_000);
  });

  test("with 503 for a second after the metadata or keys were not valid: parallel logins share one request", async () => {
    await using provider = await startHostileProvider();
    await using service = await startService({ env: oidcVariables([provider]) });
    const begin = () => {
      const body = { redirect_uri: REDIRECT_URI, code_challenge: createVerifier().challenge };
      return service.call("POST", "/auth/login/oidc/example/options", { body });
    };
    const login = (body: object) => service.call("POST", "/auth/login/oidc/example", { body });
    /** Calls 20 times at once. Returns the different statuses, and the paths that the provider got. */
    const callAtOnce = async (
      call: (index: number) => Promise<{ status: number }>,
      broken: string,
      reply: () => Response,
    ) => {
      const paths: string[] = [];
      const respond = (path: string) => {
        paths.push(path);
        return path === broken ? reply() : undefined;
      };
      provider.reply({ respond });
      const responses = await Promise.all(Array.from({ length: 20 }, (_, index) => call(index)));
      return { statuses: new Set(responses.map(({ status }) => status)), paths };
    };
    const METADATA = "/.well-known/openid-configuration";
    const once = { statuses: new Set([503]), paths: [METADATA] };
    const down = () => new Response(null, { status: 500 });
    expect(await callAtOnce(begin, METADATA, down)).toEqual(once);
    expect(await callAtOnce(begin, METADATA, down)).toEqual({ ...once, paths: [] });
    passSecond();
    expect(await callAtOnce(begin, METADATA, () => Response.json({ issuer: "another" }))).toEqual(once);
    passSecond();
    expect((await callAtOnce(begin, "", down)).statuses).toEqual(new Set([200]));

    const missing = () => new Response(null, { status: 404 });
    for (const reply of [down, () => Response.json({}), missing]) {
      const bodies = await Promise.all(Array.from({ length: 21 }, () => oidcBody(service, provider)));
      const { statuses, paths } = await callAtOnce((index) => login(bodies[index] ?? {}), "/jwks", reply);
      expect([statuses, paths.filter((path) => path === "/jwks")]).toEqual([new Set([503]), ["/jwks"]]);
      // The code of the last one is not sent, so that it still works when the provider has recovered.
      const last = () => login(bodies[20] ?? {});
      expect(await callAtOnce(last, "", down)).toEqual({ statuses: new Set([503]), paths: [] });
      passSecond();
      if (reply === missing) expect((await last()).status).toBe(200);
    }
  });

  test("if the metadata, keys, tokens or claims have too many levels or values, which `JSON.parse` takes long to read", async () => {
    await using provider = await startHostileProvider();
    await using service = await startService({ env: oidcVariables([provider]) });
    const deep = nested(100);
    const begin = async () => {
      passSecond();
      return (await service.call("POST", "/auth/login/oidc/example/options", { body })).status;
    };
    const body = { redirect_uri: REDIRECT_URI, code_challenge: createVerifier().challenge };
    for (const metadata of [{ deep }, { many: Array(4_100).fill(0) }]) {
      provider.reply({ metadata });
      expect(await begin()).toBe(503);
    }
    provider.reply({ metadata: { many: Array(2_000).fill("x") } });
    expect(await begin()).toBe(200);
    provider.reply({});
    await rejected({ claims: { deep } }, { service, provider });
    await rejected({ signIdToken: () => JSON.stringify(deep) }, { service, provider });
    const claims = { email: undefined, email_verified: undefined };
    const userInfo = { sub: "1", email: "ada@example.org", email_verified: true };
    provider.reply({ userInfo: { ...userInfo, deep } });
    await rejected({ claims }, { service, provider });
    const sent = await oidcBody(service, provider);
    provider.reply({
      respond: (path) => (path === "/token" ? Response.json({ access_token: "x", deep }) : undefined),
    });
    expect((await service.call("POST", "/auth/login/oidc/example", { body: sent })).status).toBe(401);
    provider.reply({ userInfo: { ...userInfo, flat: nested(60) } });
    expect((await loginOidc(service, provider, { claims })).status).toBe(200);
    // The keys are read with the first ID token, so another service reads them first.
    await using another = await startService({ env: oidcVariables([provider]) });
    const begun = await oidcBody(another, provider);
    provider.reply({ respond: (path) => (path === "/jwks" ? Response.json({ keys: [], deep }) : undefined) });
    expect((await another.call("POST", "/auth/login/oidc/example", { body: begun })).status).toBe(503);
  });
});

test("no connection to a provider is kept for a later request: the provider can have closed it meanwhile", async () => {
  await using provider = await startHostileProvider();
  await using service = await startService({ env: oidcVariables([provider]) });
  const connections = new Map<string, string | null>();
  const respond = (path: string, request: Request) =>
    void connections.set(path, request.headers.get("connection"));
  provider.reply({ respond });
  expect((await loginOidc(service, provider)).status).toBe(200);
  for (const path of ["/.well-known/openid-configuration", "/token", "/jwks"])
    expect(connections.get(path)).toBeNull();
});
