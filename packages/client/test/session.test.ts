/** The renewal of the stored token, against a service whose clock differs by years, with timers that the test advances. */
import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { createClient, type LatchkeyError, type TokenStorage } from "../src/index.ts";

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const LIFETIME_SECONDS = 300;
const LOGIN_SECONDS = 4_000_000_000;

const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
/** @param age of the login in seconds */
const tokenOf = (age: number, exp = age + LIFETIME_SECONDS, login: object = { auth_time: LOGIN_SECONDS }) =>
  `${encode({})}.${encode({ iat: LOGIN_SECONDS + age, exp: LOGIN_SECONDS + exp, ...login })}.x`;

const toResponse = (token: string) => Response.json({ access_token: token, token_type: "bearer" });
const toError = (status: number, code: string) => Response.json({ code, detail: code }, { status });
const LOGIN = { email: "ada@example.com", password: "correct horse battery staple" };

/** @param answers to the renewals; none: no response */
function startClient(
  answers: readonly (Response | null | Promise<Response>)[],
  storage?: TokenStorage,
  token?: string,
) {
  const renewals: string[] = [];
  const events: unknown[] = [];
  const client = createClient({
    baseUrl: "http://service.example",
    storage,
    token,
    onTokenChange: (changed) => events.push(changed ?? null),
    onSessionEnd: ({ code }: LatchkeyError) => events.push(code),
    async fetch({ url, method, headers }) {
      if (url.endsWith("/auth/login")) return toResponse(tokenOf(0));
      if (!url.endsWith("/auth/tokens"))
        return method === "DELETE" ? new Response(null, { status: 204 }) : Response.json({ id: 1 });
      const answer = answers[renewals.length];
      renewals.push(headers.get("authorization")?.slice("Bearer ".length) ?? "");
      if (!answer) throw new TypeError("offline");
      return answer;
    },
  });
  return { client, renewals, events };
}

/** Lets requests end that have begun; they need no timer. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await new Response("x").text();
}
async function advance(seconds: number): Promise<void> {
  jest.advanceTimersByTime(seconds * 1000);
  await settle();
}

test("a token is renewed after three quarters of its lifetime, until a renewal brings no later expiry", async () => {
  const [first, second, last] = [tokenOf(0), tokenOf(230), tokenOf(460, 230 + LIFETIME_SECONDS)];
  const { client, renewals, events } = startClient([toResponse(second), toResponse(last)]);
  await client.login(LOGIN);
  await advance(224);
  expect(renewals).toEqual([]);
  await advance(16);
  expect(renewals).toEqual([first]);
  await advance(240);
  await advance(1_000);
  expect(renewals).toEqual([first, second]);
  expect(events).toEqual([first, second, last]);
});

test("a token without the time of its login, or of a client that has logged out, is never renewed", async () => {
  const { client, renewals } = startClient([], undefined, tokenOf(0, LIFETIME_SECONDS, {}));
  await advance(1_000);
  await client.login(LOGIN);
  client.logout();
  await advance(1_000);
  expect(renewals).toEqual([]);
});

test("parallel calls after a sleep cause one renewal, and the deletion of the user causes none", async () => {
  const { client, renewals, events } = startClient([toResponse(tokenOf(290))]);
  await client.login(LOGIN);
  jest.setSystemTime(Date.now() + 290_000);
  await Promise.all([client.getMe(), client.getMe(), client.getMe()]);
  await settle();
  jest.setSystemTime(Date.now() + 290_000);
  await client.deleteMe();
  await settle();
  expect(renewals).toEqual([tokenOf(0)]);
  expect(events).toEqual([tokenOf(0), tokenOf(290), null]);
});

test("a renewal without a response or with a 503 is repeated, and one that the path does not support, or that returns no token, is not", async () => {
  const answers = [
    null,
    toError(503, "DATABASE_UNAVAILABLE"),
    toResponse(tokenOf(270)),
    toError(405, "METHOD_NOT_ALLOWED"),
    Response.json({}),
  ];
  const { client, renewals, events } = startClient(answers);
  await client.login(LOGIN);
  await advance(240);
  await advance(16);
  await advance(16);
  expect(renewals).toEqual([tokenOf(0), tokenOf(0), tokenOf(0)]);
  await advance(240);
  await advance(1_000);
  expect(renewals.slice(3)).toEqual([tokenOf(270)]);
  expect(await client.renewToken().catch((error) => error)).toMatchObject({
    name: "LatchkeyError",
    status: 200,
  });
  expect(events).toEqual([tokenOf(0), tokenOf(270)]);
  expect(client.token).toBe(tokenOf(270));
});

test("a renewal that the service rejects ends the session, once", async () => {
  const { client, renewals, events } = startClient([toError(401, "LOGIN_REQUIRED")]);
  await client.login(LOGIN);
  await advance(240);
  await advance(1_000);
  expect(renewals).toHaveLength(1);
  expect(events).toEqual([tokenOf(0), null, "LOGIN_REQUIRED"]);
});

/** Storage of two tabs. */
function createStorage() {
  const items = new Map<string, string>();
  return {
    items,
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
    removeItem: (key: string) => void items.delete(key),
  };
}

test("a stored token is renewed when it was due by its receipt, also by another client, whose token this one then uses", async () => {
  const storage = createStorage();
  await startClient([], storage).client.login(LOGIN);
  jest.setSystemTime(Date.now() + 200_000);
  const [one, other] = [startClient([toResponse(tokenOf(230))], storage), startClient([], storage)];
  expect([one.client.token, other.client.token]).toEqual([tokenOf(0), tokenOf(0)]);
  jest.setSystemTime(Date.now() + 30_000);
  await one.client.getMe();
  await settle();
  await other.client.getMe();
  expect([one.renewals, other.renewals]).toEqual([[tokenOf(0)], []]);
  expect(other.events).toEqual([tokenOf(230)]);
  other.client.logout();
  await one.client.getMe();
  expect([one.events, storage.items.size]).toEqual([[tokenOf(230), null], 0]);
  for (const text of ["", "{}", "null", "{"]) {
    storage.setItem("latchkey http://service.example", text);
    expect(startClient([], storage).client.token).toBeUndefined();
  }
});

test("a late 401 for an earlier token does not forget the new one, also of another client", async () => {
  const storage = createStorage();
  const { promise, resolve } = Promise.withResolvers<Response>();
  const late = startClient([promise], storage, tokenOf(-10));
  const rejected = late.client.renewToken().catch(({ code }) => code);
  await startClient([], storage).client.login(LOGIN);
  resolve(toError(401, "INVALID_TOKEN"));
  expect(await rejected).toBe("INVALID_TOKEN");
  expect([late.client.token, late.events]).toEqual([tokenOf(0), [tokenOf(0)]]);
});

test("the end of a login also forgets a token that a renewal has stored since the request", async () => {
  const [renewal, end] = [Promise.withResolvers<Response>(), Promise.withResolvers<Response>()];
  const { client, events } = startClient([renewal.promise, end.promise]);
  await client.login(LOGIN);
  await advance(240);
  const ended = client.revokeTokens();
  renewal.resolve(toResponse(tokenOf(240)));
  await settle();
  end.resolve(new Response(null, { status: 204 }));
  await ended;
  expect(events).toEqual([tokenOf(0), tokenOf(240), null]);
});

test("the end of a login keeps the token of a later login, also of another client", async () => {
  const storage = createStorage();
  const { promise, resolve } = Promise.withResolvers<Response>();
  const [ending, later] = [tokenOf(0, 300, {}), tokenOf(10, 310, {})];
  const { client } = startClient([promise], storage, ending);
  const ended = client.revokeTokens();
  startClient([], storage, later);
  resolve(new Response(null, { status: 204 }));
  await ended;
  expect([client.token, storage.items.size]).toEqual([later, 1]);
});

test("a clock that is set back delays no renewal", async () => {
  const { client, renewals } = startClient([toResponse(tokenOf(230))]);
  await client.login(LOGIN);
  jest.setSystemTime(Date.now() - 100_000);
  await advance(240);
  expect([renewals, client.token]).toEqual([[tokenOf(0)], tokenOf(230)]);
});

test("after a clock was set back by more than a lifetime, the token is renewed at the next call", async () => {
  const { client, renewals } = startClient([toResponse(tokenOf(10))]);
  await client.login(LOGIN);
  jest.setSystemTime(Date.now() - 86_400_000);
  await client.getMe();
  await settle();
  expect(renewals).toEqual([tokenOf(0)]);
});

test("a token that expires before the one that it replaces is renewed: the clock of the service was set back", async () => {
  const { client, renewals } = startClient([toResponse(tokenOf(-5_000)), toResponse(tokenOf(-4_770))]);
  await client.login(LOGIN);
  await advance(240);
  await advance(240);
  expect(renewals).toEqual([tokenOf(0), tokenOf(-5_000)]);
});

test("a closed client keeps its token, renews nothing and follows no other tab", async () => {
  const storage = createStorage();
  const { client, renewals } = startClient([toResponse(tokenOf(230))], storage);
  await client.login(LOGIN);
  client.close();
  await advance(1_000);
  await client.getMe();
  await settle();
  expect([renewals, client.token]).toEqual([[], tokenOf(0)]);
});

test("a renewal that a captive portal answers is repeated", async () => {
  const { client, renewals } = startClient([new Response("<html>"), toResponse(tokenOf(250))]);
  await client.login(LOGIN);
  await advance(240);
  await advance(16);
  expect([renewals.length, client.token]).toEqual([2, tokenOf(250)]);
});

/** A client of a server, which keeps the token itself. `kept` is what the server has stored. */
function startServerClient(answer: (method: string) => Response, token = tokenOf(0)) {
  const requests: string[] = [];
  const storing = Promise.withResolvers<void>();
  const state: { kept: string | undefined; callback?: (() => Promise<unknown>) | undefined } = {
    kept: token,
  };
  const client = createClient({
    baseUrl: "http://service.example",
    token,
    retries: 0,
    async onTokenChange(changed) {
      await storing.promise;
      await state.callback?.();
      state.kept = changed;
    },
    async fetch({ url, method }) {
      const { pathname } = new URL(url);
      requests.push(`${method} ${pathname}`);
      return pathname === "/auth/me" ? Response.json({ id: 1, email: LOGIN.email }) : answer(method);
    },
  });
  return { client, requests, storing, state };
}

test("a request during which the token is renewed resolves when the application has stored the new token, which it can use itself", async () => {
  jest.setSystemTime((LOGIN_SECONDS + 230) * 1000);
  const { client, state, storing } = startServerClient(() => toResponse(tokenOf(230)));
  state.callback = () => client.getMe();
  let isOver = false;
  const reading = client
    .getMe()
    .finally(client.close)
    .then(() => {
      isOver = true;
    });
  await settle();
  expect([isOver, client.token]).toEqual([false, tokenOf(230)]);
  storing.resolve();
  await reading;
  expect(state.kept).toBe(tokenOf(230));
});

test("a request in `onTokenChange` whose token is rejected does not wait for the renewal that called it", async () => {
  jest.setSystemTime((LOGIN_SECONDS + 230) * 1000);
  const answer = (method: string) =>
    method === "POST" ? toResponse(tokenOf(230)) : toError(401, "INVALID_TOKEN");
  const { client, requests, state, storing } = startServerClient(answer);
  storing.resolve();
  state.callback = () => {
    state.callback = undefined;
    return client.revokeTokens().catch(() => {});
  };
  expect(await client.getMe()).toMatchObject({ id: 1 });
  expect(requests).toContain("DELETE /auth/tokens");
});

test("getToken returns a token that is renewed when that is due, and the present one if the renewal fails for now", async () => {
  const second = Promise.withResolvers<Response>();
  const { client, renewals } = startClient([null, second.promise]);
  expect(await client.getToken()).toBeUndefined();
  await client.login(LOGIN);
  jest.setSystemTime(Date.now() + 200_000);
  expect([await client.getToken(), renewals]).toEqual([tokenOf(0), []]);
  jest.setSystemTime(Date.now() + 30_000);
  expect([await client.getToken(), renewals.length]).toEqual([tokenOf(0), 1]);
  jest.setSystemTime(Date.now() + 20_000);
  const tokens = Promise.all([client.getToken(), client.getToken()]);
  second.resolve(toResponse(tokenOf(250)));
  expect([await tokens, renewals.length]).toEqual([[tokenOf(250), tokenOf(250)], 2]);
  jest.setSystemTime(Date.now() + 301_000);
  expect(await client.getToken().catch(({ name }) => name)).toBe("LatchkeyConnectionError");
});

test("a new password logs in again; if that is refused, the token remains and is not renewed, because the service would reject that", async () => {
  const change = { password: "a new password" };
  const accepted = startServerClient(() => toResponse(tokenOf(10)), tokenOf(5));
  accepted.storing.resolve();
  await accepted.client.updateMe(change);
  expect(accepted.requests).toEqual(["PATCH /auth/me", "POST /auth/login"]);
  expect(accepted.state.kept).toBe(tokenOf(10));
  const refused = startServerClient(() => toError(401, "LOGIN_REQUIRED"), tokenOf(5));
  refused.storing.resolve();
  expect(await refused.client.updateMe(change)).toMatchObject({ id: 1 });
  await advance(1_000);
  await refused.client.getMe();
  expect(refused.requests).toEqual(["PATCH /auth/me", "POST /auth/login", "GET /auth/me"]);
  expect([refused.client.token, refused.state.kept]).toEqual([tokenOf(5), tokenOf(5)]);
});

test("a renewal that becomes due during a change of the password is not sent", async () => {
  const patch = Promise.withResolvers<Response>();
  const renewals: string[] = [];
  const client = createClient({
    baseUrl: "http://service.example",
    async fetch({ url, method }) {
      if (method === "PATCH") return await patch.promise;
      if (url.endsWith("/auth/tokens")) renewals.push(url);
      return url.endsWith("/auth/login") ? toResponse(tokenOf(0)) : toError(401, "LOGIN_REQUIRED");
    },
  });
  await client.login(LOGIN);
  await advance(220);
  const changing = client.updateMe({ password: "a new password" });
  await settle();
  await advance(30);
  patch.resolve(Response.json({ id: 1, email: LOGIN.email }));
  await changing;
  expect([renewals, client.token]).toEqual([[], tokenOf(0)]);
});

/** Gives the browser these locks until it is disposed. */
function provideLocks(
  request: (
    ...call: [name: string, options: object, work: (lock: unknown) => Promise<void>]
  ) => Promise<void>,
): Disposable {
  Object.defineProperty(navigator, "locks", { configurable: true, value: { request } });
  return { [Symbol.dispose]: () => Reflect.deleteProperty(navigator, "locks") };
}

test("a browser that refuses its locks renews without them", async () => {
  using _locks = provideLocks(() => Promise.reject(new DOMException("", "SecurityError")));
  const { client, renewals } = startClient([toResponse(tokenOf(230))], createStorage());
  await client.login(LOGIN);
  await advance(240);
  expect([renewals, client.token]).toEqual([[tokenOf(0)], tokenOf(230)]);
});

test("a tab keeps the lock for a second after its renewal, and a tab without the lock waits as long before it looks again", async () => {
  const states: string[] = [];
  let lock: object | null = {};
  using _locks = provideLocks(async (_name, _options, work) => {
    states.push("requested");
    await work(lock);
    states.push("released");
  });
  const { client, renewals } = startClient(
    [toResponse(tokenOf(230)), toResponse(tokenOf(460))],
    createStorage(),
  );
  const untilState = async (count: number) => {
    while (states.length < count) await advance(0.1);
    return states.splice(0);
  };
  await client.login(LOGIN);
  expect([await untilState(1), renewals.length]).toEqual([["requested"], 1]);
  await advance(0.8);
  expect(states).toEqual([]);
  await advance(0.2);
  expect(states).toEqual(["released"]);
  states.length = 0;
  lock = null;
  expect([await untilState(1), renewals.length]).toEqual([["requested"], 1]);
  lock = {};
  await advance(0.8);
  expect(states).toEqual([]);
  expect([await untilState(2), renewals.length]).toEqual([["released", "requested"], 2]);
});

test("a lock that a stopped tab keeps delays the renewal by ten seconds", async () => {
  using _locks = provideLocks(async (_name, _options, work) => await work(null));
  const { client, renewals } = startClient([toResponse(tokenOf(400))], createStorage());
  await client.login(LOGIN);
  jest.setSystemTime(Date.now() + 400_000);
  const reading = client.getMe();
  await advance(0);
  for (let second = 1; second < 10; second++) await advance(1);
  expect(renewals).toEqual([]);
  await advance(1);
  await reading;
  expect([renewals, client.token]).toEqual([[tokenOf(0)], tokenOf(400)]);
});
