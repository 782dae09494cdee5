/** Logins with providers and codes: what the tab keeps between the two pages, and what it sends. */
import { expect, test } from "bun:test";
import { createClient, LatchkeyOidcError } from "../src/index.ts";

const STATE = "a-state";
const REDIRECT_URI = "https://app.example.com/callback";

/** A service that answers every begin and every login. `sent` has the path and the body of each request. */
function createService() {
  const sent: [path: string, body: Record<string, string>][] = [];
  const fetch = async (request: Request): Promise<Response> => {
    const path = new URL(request.url).pathname;
    sent.push([path, (await request.json()) as Record<string, string>]);
    return Response.json(
      path.endsWith("/options")
        ? { authorization_url: "https://accounts.example.com/authorize", state: STATE }
        : { access_token: "a.token.x", token_type: "bearer" },
    );
  };
  return { sent, client: createClient({ baseUrl: "https://latchkey.example.com", fetch }) };
}

const reasonOf = (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error: unknown) => (error instanceof LatchkeyOidcError ? error.reason : error),
  );

test("the tab that began a login finishes it once, with the verifier of its challenge", async () => {
  const { client, sent } = createService();
  expect(await client.oidc.begin("google", REDIRECT_URI)).toBe("https://accounts.example.com/authorize");
  const address = `${REDIRECT_URI}?code=c&state=${STATE}&iss=https%3A%2F%2Faccounts.example.com`;
  expect(await reasonOf(client.oidc.finish(`${REDIRECT_URI}?code=c&state=another`))).toBe("no_login");
  await client.oidc.finish(address, { username: "ada" });
  expect(client.token).toBe("a.token.x");
  const [[, options] = [], [path, body] = []] = sent;
  expect(path).toBe("/auth/login/oidc/google");
  const verifier = body?.code_verifier ?? "";
  expect(body).toEqual({
    ...{ code: "c", state: STATE, iss: "https://accounts.example.com", username: "ada" },
    code_verifier: verifier,
  });
  const digest = new Bun.CryptoHasher("sha256").update(verifier).digest("base64url");
  expect(options).toEqual({ redirect_uri: REDIRECT_URI, code_challenge: digest });
  expect(await reasonOf(client.oidc.finish(address))).toBe("no_login");
  await client.oidc.begin("google", REDIRECT_URI);
  const denied = `${REDIRECT_URI}?error=access_denied&state=${STATE}`;
  expect(await reasonOf(client.oidc.finish(denied))).toBe("denied");
});

test("a code from a mail logs in with the state of its request", async () => {
  const { client, sent } = createService();
  const login = await client.emailLogin("ada@example.com");
  await login.finish("12345678");
  expect(sent).toEqual([
    ["/auth/login/email/options", { email: "ada@example.com" }],
    ["/auth/login/email", { state: STATE, code: "12345678" }],
  ]);
  expect(client.token).toBe("a.token.x");
});
