/** Logins with GitHub, whose OAuth 2 has neither ID tokens nor error statuses. The server is one of GitHub Enterprise. */
import { expect, test } from "bun:test";
import { beginOidc, createVerifier } from "../../support/identities.ts";
import { startService } from "../../support/service.ts";

interface Replies {
  readonly token?: object;
  readonly user?: object;
  readonly addresses?: readonly object[] | Response;
}

const ADA = { id: 583_231, login: "ada-lovelace" };
const address = (email: string, primary: boolean, verified: boolean) => ({ email, primary, verified });

/** GitHub sends 403 instead of 429. */
const LIMITED = new Response("{}", { status: 403, headers: { "x-ratelimit-remaining": "0" } });

/** A service with one provider, which answers with the replies, and the requests that it got. */
async function startWithGithub(replies: Replies, more: object = {}) {
  const requests: { readonly path: string; readonly body: string; readonly authorization: string | null }[] =
    [];
  const answers: Readonly<Record<string, unknown>> = {
    "/login/oauth/access_token": replies.token ?? { access_token: "gho_1", token_type: "bearer" },
    "/api/v3/user": replies.user ?? ADA,
    "/api/v3/user/emails": replies.addresses ?? [address("ada@example.org", true, true)],
  };
  const server = Bun.serve({
    hostname: "localhost",
    port: 0,
    async fetch(request) {
      const path = new URL(request.url).pathname;
      const authorization = request.headers.get("authorization");
      requests.push({ path, body: await request.text(), authorization });
      const answer = answers[path];
      return answer instanceof Response ? answer : Response.json(answer);
    },
  });
  const client = { client_id: "latchkey", client_secret: "a secret of this provider" };
  const provider = { name: "example", type: "github", issuer: server.url.origin, ...client, ...more };
  const service = await startService({
    env: {
      OIDC_PROVIDERS: JSON.stringify([provider]),
      OIDC_REDIRECT_URIS: "https://app.example.com/callback",
    },
  });
  const logIn = async (given: object = {}) => {
    const { body } = await beginOidc(service);
    return service.call("POST", "/auth/login/oidc/example", { body: { ...body, code: "a code", ...given } });
  };
  const resources = new AsyncDisposableStack();
  resources.defer(() => server.stop(true));
  resources.use(service);
  return { service, requests, logIn, issuer: server.url.origin, resources };
}

test("a login sends the code with its verifier once, and its user has the id of GitHub and the primary address", async () => {
  const addresses = [address("old@example.org", false, true), address("ada@example.org", true, true)];
  const github = await startWithGithub({ addresses });
  await using _ = github.resources;
  const { service, requests, issuer } = github;
  const { url } = await beginOidc(service);
  expect(url).toStartWith(`${issuer}/login/oauth/authorize?response_type=code&client_id=latchkey&`);
  expect(new URL(url).searchParams.get("scope")).toBe("read:user user:email");
  const token = (await github.logIn()).expect<{ access_token: string }>(200).access_token;
  const me = await service.call("GET", "/auth/me", { token });
  expect(me.body).toMatchObject({ email: "ada@example.org", email_verified: true, username: "ada-lovelace" });
  const identity = await service.sql("select issuer, subject from identities");
  expect(identity).toEqual([{ issuer, subject: "583231" }]);
  const [exchange, user] = requests;
  expect(new URLSearchParams(exchange?.body).get("code_verifier")).toHaveLength(43);
  expect(user).toMatchObject({ path: "/api/v3/user", authorization: "Bearer gho_1" });
  // The second login finds the identity, so it reads no address.
  requests.length = 0;
  (await github.logIn()).expect(200);
  expect(requests.map(({ path }) => path)).toEqual(["/login/oauth/access_token", "/api/v3/user"]);
});

test.each([
  ["not verified", { addresses: [address("ada@example.org", true, false)] }, 403, "EMAIL_NOT_VERIFIED"],
  ["not primary", { addresses: [address("ada@example.org", false, true)] }, 403, "EMAIL_NOT_VERIFIED"],
  ["missing", { addresses: [] }, 403, "EMAIL_NOT_VERIFIED"],
  [...["not granted", { addresses: new Response("{}", { status: 404 }) }], ...[403, "EMAIL_NOT_VERIFIED"]],
  ["over the limit", { addresses: LIMITED }, 503, "PROVIDER_UNAVAILABLE"],
  ["of no user", { user: { login: "ada" } }, 503, "PROVIDER_UNAVAILABLE"],
  ["of a rejected code", { token: { error: "bad_verification_code" } }, 401, "IDENTITY_REJECTED"],
  [
    ...["of a rejected client", { token: { error: "incorrect_client_credentials" } }],
    ...[503, "PROVIDER_UNAVAILABLE"],
  ],
] as [string, Replies, number, string][])(
  "an address that is %s logs nobody in",
  async (_, replies, status, code) => {
    const github = await startWithGithub(replies);
    await using _resources = github.resources;
    const response = await github.logIn();
    expect([response.status, response.body]).toMatchObject([status, { code }]);
    expect(await github.service.sql("select * from users")).toEqual([]);
    await github.service.request("/healthz");
    if (status === 503) expect(JSON.stringify(github.service.log)).toContain("example: The ");
  },
);

test("the response of another issuer, and another verifier, are rejected before the code is sent", async () => {
  const github = await startWithGithub({});
  await using _ = github.resources;
  for (const given of [
    { iss: "https://example.com" },
    // Begins with the issuer, and is another host.
    { iss: `${github.issuer}.example.com` },
    { code_verifier: createVerifier().verifier },
  ])
    expect((await github.logIn(given)).status).toBe(401);
  expect(github.requests).toEqual([]);
});
