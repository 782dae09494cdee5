/** Logins with providers, codes and the pages of the service: what the tab keeps between the two pages, and what it sends. */
import { afterEach, expect, setSystemTime, test } from "bun:test";
import { createClient, LatchkeyHostedLoginError, LatchkeyOidcError } from "../src/index.ts";
import { errorOf } from "./support/service.ts";

afterEach(() => void setSystemTime());

const STATE = "a-state";
const REDIRECT_URI = "https://app.example.com/callback";

/**
 * A service that answers every begin and every login. `sent` has the path and the body of each request. Each mailed code is the number
 * of its request.
 */
function createService() {
  const sent: [path: string, body: Record<string, string>][] = [];
  let codes = 0;
  const fetch = async (request: Request): Promise<Response> => {
    const path = new URL(request.url).pathname;
    const text = await request.text();
    const isForm = request.headers.get("content-type") === "application/x-www-form-urlencoded";
    const body: Record<string, string> = isForm
      ? Object.fromEntries(new URLSearchParams(text))
      : JSON.parse(text);
    sent.push([path, body]);
    if (path === "/auth/login/email/options") return Response.json({ state: `code ${++codes}` });
    if (path === "/auth/login/email" && body.state !== `code ${body.code}`)
      return Response.json({ code: "LOGIN_CODE_INVALID", detail: "no" }, { status: 401 });
    if (path.endsWith("/removal")) return new Response(null, { status: 204 });
    if (path.startsWith("/auth/identities/")) return Response.json({ id: 1 }, { status: 201 });
    return Response.json(
      path.endsWith("/options")
        ? { authorization_url: "https://accounts.example.com/authorize", state: STATE }
        : { access_token: "a.token.x", token_type: "bearer" },
    );
  };
  const open = (token?: string) =>
    createClient({ baseUrl: "https://latchkey.example.com", fetch, retries: 0, token });
  return { sent, open, client: open() };
}

/** Lets work end that has begun. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Response("x").text();
}

/** Gives the runtime the storage of a tab, as in a browser, until it is disposed. */
function provideTab() {
  const items = new Map<string, string>();
  const sessionStorage = {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
    removeItem: (key: string) => void items.delete(key),
  };
  for (const [name, value] of Object.entries({ sessionStorage, document: {} }))
    Object.defineProperty(globalThis, name, { configurable: true, value });
  const remove = () => ["sessionStorage", "document"].map((name) => Reflect.deleteProperty(globalThis, name));
  return { items, [Symbol.dispose]: () => void remove() };
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

test("the tab that began a hosted login finishes it once, with the verifier of its challenge", async () => {
  const { client, sent } = createService();
  const reasonOf = (promise: Promise<unknown>) =>
    promise.catch((error: unknown) => (error instanceof LatchkeyHostedLoginError ? error : null));
  const begin = async () => {
    const url = new URL(await client.hostedLogin.begin("web", REDIRECT_URI, { acrValues: "2fa" }));
    return [url.origin + url.pathname, Object.fromEntries(url.searchParams)] as const;
  };
  const [page, { state = "", code_challenge, ...request }] = await begin();
  expect(page).toBe("https://latchkey.example.com/account/authorize");
  expect(request).toEqual({
    ...{ response_type: "code", client_id: "web", redirect_uri: REDIRECT_URI },
    ...{ code_challenge_method: "S256", acr_values: "2fa" },
  });
  const finish = (state: string, response = "code=c") =>
    client.hostedLogin.finish(`${REDIRECT_URI}?${response}&state=${state}&iss=x`);
  expect(await reasonOf(finish("another"))).toMatchObject({ reason: "no_login" });
  await Promise.all([finish(state), finish(state)]);
  expect(client.token).toBe("a.token.x");
  const [[path, body] = [], ...others] = sent;
  const { code_verifier: verifier = "", ...exchanged } = body ?? {};
  expect([path, exchanged, others]).toEqual([
    "/oauth/token",
    { grant_type: "authorization_code", client_id: "web", redirect_uri: REDIRECT_URI, code: "c" },
    [],
  ]);
  expect(new Bun.CryptoHasher("sha256").update(verifier).digest("base64url")).toBe(code_challenge ?? "");
  expect(await reasonOf(finish(state, "code=d"))).toMatchObject({ reason: "no_login" });
  const [, next] = await begin();
  expect(await reasonOf(finish(next.state ?? "", "error=invalid_scope"))).toMatchObject({
    ...{ reason: "denied", cause: "invalid_scope" },
  });
});

test("calls at the same time are one request with one result, also if the first caller aborts, as React's StrictMode does", async () => {
  const { client, sent } = createService();
  const address = new URL(`${REDIRECT_URI}?code=c&state=${STATE}`);
  await client.oidc.begin("google", REDIRECT_URI);
  const [one, other] = await Promise.all([client.oidc.finish(address), client.oidc.finish(`${address}`)]);
  expect([one.access_token, other]).toEqual(["a.token.x", one]);
  await client.oidc.begin("google", REDIRECT_URI);
  const controller = new AbortController();
  const reason = new Error("unmounted");
  const first = errorOf(client.oidc.finish(address, { signal: controller.signal }));
  controller.abort(reason);
  expect(await client.oidc.finish(address)).toMatchObject(one);
  expect(await first).toBe(reason);
  await client.oidc.begin("google", REDIRECT_URI);
  expect(await Promise.all([client.oidc.add(address), client.oidc.add(address)])).toHaveLength(2);
  const paths = sent.map(([path]) => path).filter((path) => !path.endsWith("/options"));
  expect(paths).toEqual(["/auth/login/oidc/google", "/auth/login/oidc/google", "/auth/identities/google"]);
});

test("a call whose only caller aborts is aborted", async () => {
  const signals: AbortSignal[] = [];
  const fetch = async ({ url }: Request, { signal }: { signal: AbortSignal }) => {
    if (url.endsWith("/options")) return Response.json({ authorization_url: "x", state: STATE });
    signals.push(signal);
    return await new Promise<Response>(() => {});
  };
  const client = createClient({ baseUrl: "https://latchkey.example.com", fetch });
  await client.oidc.begin("google", REDIRECT_URI);
  const controller = new AbortController();
  const finished = errorOf(
    client.oidc.finish(`${REDIRECT_URI}?code=c&state=${STATE}`, { signal: controller.signal }),
  );
  while (signals.length === 0) await settle();
  controller.abort(new Error("left"));
  expect(await finished).toMatchObject({ message: "left" });
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
});

test("the password of `begin` is sent by `add` on the next page, and the tab forgets it at its use, at a logout and after ten minutes", async () => {
  using tab = provideTab();
  const { sent, open } = createService();
  const begin = (password?: string) =>
    open("a.token.x").oidc.begin("google", REDIRECT_URI, { currentPassword: password });
  const kept = () => [...tab.items.values()].filter((text) => text.includes("correct horse"));
  await begin("correct horse");
  expect(kept()).toHaveLength(1);
  await open("a.token.x").oidc.add(`${REDIRECT_URI}?code=c&state=${STATE}`);
  expect(sent.at(-1)).toMatchObject(["/auth/identities/google", { current_password: "correct horse" }]);
  expect(kept()).toEqual([]);
  await begin("correct horse");
  await errorOf(open("a.token.x").oidc.add(`${REDIRECT_URI}?error=access_denied&state=${STATE}`));
  expect(kept()).toEqual([]);
  await begin("correct horse");
  open("a.token.x").logout();
  await settle();
  expect(kept()).toEqual([]);
  await begin("correct horse");
  setSystemTime(Date.now() + 10 * 60_000);
  open("a.token.x");
  await settle();
  expect(kept()).toEqual([]);
  // A login without a password is kept: a session that ends must not end it.
  await begin();
  open("a.token.x").logout();
  await open("a.token.x").oidc.add(`${REDIRECT_URI}?code=c&state=${STATE}`);
  expect(sent.at(-1)?.[1]).not.toHaveProperty("current_password");
});

test("an identity is removed with the password, or without one by a user who has none", async () => {
  const { sent, open } = createService();
  const { oidc } = open("a.token.x");
  await oidc.remove(1, "correct horse");
  await oidc.remove(2);
  expect(sent).toEqual([
    ["/auth/identities/1/removal", { current_password: "correct horse" }],
    ["/auth/identities/2/removal", {}],
  ]);
});

test("a code from a mail logs in with the state of its request, also if it was not the last one, and over a reload", async () => {
  for (const isBrowser of [false, true]) {
    using _tab = isBrowser ? provideTab() : undefined;
    const { open, sent } = createService();
    const client = open();
    await client.emailLogin("ada@example.com");
    await client.emailLogin("joan@example.com");
    const login = await (isBrowser ? open() : client).emailLogin(" Ada@example.com");
    await login.finish("1");
    const states = sent.filter(([path]) => path === "/auth/login/email").map(([, { state }]) => state);
    expect(states).toEqual(["code 3", "code 1"]);
    expect(await errorOf(login.finish("0"))).toMatchObject({ code: "LOGIN_CODE_INVALID" });
    expect((await (isBrowser ? open() : client).begunEmailLogin())?.email).toBe("joan@example.com");
    // The login has ended the codes of Ada.
    expect(sent.at(-1)?.[1].state).toBe("code 3");
  }
});

test("a code that was requested ten minutes ago is not tried", async () => {
  const { client, sent } = createService();
  await client.emailLogin("ada@example.com");
  setSystemTime(Date.now() + 10 * 60_000);
  const login = await client.emailLogin("ada@example.com");
  await errorOf(login.finish("1"));
  expect(sent.map(([, { state }]) => state)).toEqual([undefined, undefined, "code 2"]);
});
