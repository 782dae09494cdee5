/** A request with an expired token waits for one renewal, whatever the clocks show. No test waits. */
import { expect, test } from "bun:test";
import { createClient, type LatchkeyError, type TokenStorage } from "../src/index.ts";
import { errorOf } from "./support/service.ts";

const KEY = "latchkey http://service.example";
const LIFETIME_SECONDS = 60;
const AUTH_TIME = 1_700_000_000;

const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
const tokenOf = (age: number, sub = "1", auth_time = AUTH_TIME) => {
  const iat = AUTH_TIME + age;
  return `${encode({})}.${encode({ sub, iat, exp: iat + LIFETIME_SECONDS, auth_time })}.x`;
};
const [EXPIRED, REJECTED_TOO, RENEWED] = [tokenOf(0), tokenOf(500), tokenOf(1_000)];

const INVALID = () => Response.json({ code: "INVALID_TOKEN", detail: "expired" }, { status: 401 });
const toResponse = (token: string) => Response.json({ access_token: token, token_type: "bearer" });
const offline = (): Response => {
  throw new TypeError("offline");
};

/** What a client stored that received `token` so many minutes ago by the local clock; a negative number is in the future. */
const storedAt = (minutes: number, token = EXPIRED) => {
  const receivedAt = Date.now() - minutes * 60_000;
  const [renewAt, expiresAt] = [receivedAt + 45_000, receivedAt + 60_000];
  return JSON.stringify({ token, renewAt, expiresAt });
};

/** Storage of two tabs that has `text`. */
function createStorage(text: string) {
  const items = new Map([[KEY, text]]);
  const storage: TokenStorage = {
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => items.set(key, value),
    removeItem: (key) => items.delete(key),
  };
  return { items, storage };
}

/**
 * A service that rejects two tokens. `requests` has the method, the path and whether the token has expired.
 * @param renewals the answers to the renewals; afterwards, each succeeds
 */
function createService(renewals: (() => Response | Promise<Response>)[] = []) {
  const requests: string[] = [];
  const events: unknown[] = [];
  const open = (options: { storage?: TokenStorage; token?: string; renewsExpiredTokens?: boolean }) =>
    createClient({
      baseUrl: "http://service.example",
      ...options,
      retries: 0,
      onTokenChange: (changed) => events.push(changed ?? null),
      onSessionEnd: ({ code }: LatchkeyError) => events.push(code),
      async fetch({ url, method, headers }) {
        const { pathname } = new URL(url);
        const token = headers.get("authorization")?.slice("Bearer ".length) ?? "";
        const isExpired = [EXPIRED, REJECTED_TOO].includes(token);
        requests.push(`${method} ${pathname} ${isExpired ? "expired" : "valid"}`);
        if (method === "POST" && pathname === "/auth/tokens")
          return (renewals.shift() ?? (() => toResponse(RENEWED)))();
        return isExpired
          ? INVALID()
          : method === "DELETE"
            ? new Response(null, { status: 204 })
            : Response.json({ id: 1 });
      },
    });
  return { requests, events, open };
}

const RENEWAL = "POST /auth/tokens expired";
const REJECTED = "GET /auth/me expired";
const READ = "GET /auth/me valid";

test("requests with an expired token wait for one renewal", async () => {
  const { requests, events, open } = createService();
  const client = open({ storage: createStorage(storedAt(75)).storage });
  await Promise.all([client.getMe(), client.getMe(), client.updateMe({ username: "ada" })]);
  expect(requests.toSorted()).toEqual([READ, READ, "PATCH /auth/me valid", RENEWAL].toSorted());
  expect(events).toEqual([RENEWED]);
});

test("a client that renews no expired tokens ends the login, and renews a token that is due", async () => {
  const expired = createService();
  const { storage } = createStorage(storedAt(75));
  const client = expired.open({ storage, renewsExpiredTokens: false });
  expect(await errorOf(client.getMe())).toMatchObject({ code: "INVALID_TOKEN" });
  expect(expired.requests).toEqual([REJECTED]);
  expect(client.token).toBeUndefined();
  const due = createService();
  const isDue = createStorage(storedAt(50 / 60)).storage;
  await due.open({ storage: isDue, renewsExpiredTokens: false }).getToken();
  expect(due.requests).toEqual([RENEWAL]);
});

test("what release 2.0.0 stored is renewed before it is used, too", async () => {
  const { requests, open } = createService();
  const text = JSON.stringify({ token: EXPIRED, renewAt: Date.now() - 20_000 });
  await open({ storage: createStorage(text).storage }).getMe();
  expect(requests).toEqual([RENEWAL, READ]);
});

test("asynchronous storage is read before it is decided whether the token has expired", async () => {
  const { requests, open } = createService();
  const { items } = createStorage(storedAt(75));
  const storage: TokenStorage = {
    getItem: async (key) => items.get(key) ?? null,
    setItem: async (key, value) => items.set(key, value),
    removeItem: async (key) => items.delete(key),
  };
  await open({ storage }).getMe();
  expect(requests).toEqual([RENEWAL, READ]);
});

test("deleting the user and revoking the tokens wait, too", async () => {
  for (const method of ["deleteMe", "revokeTokens"] as const) {
    const { requests, events, open } = createService();
    const { storage, items } = createStorage(storedAt(75));
    await open({ storage })[method]();
    expect(requests).toEqual([RENEWAL, expect.stringMatching(/^DELETE .* valid$/)]);
    expect([events, items.size]).toEqual([[RENEWED, null], 0]);
  }
});

test("a clock that was set back or is wrong causes a renewal at most, never the end of the session", async () => {
  const setBack = createService();
  await setBack.open({ storage: createStorage(storedAt(-60)).storage }).getMe();
  expect(setBack.requests).toEqual([RENEWAL, READ]);
  // The local clock shows that half of the lifetime remains.
  const slow = createService();
  const { storage } = createStorage(storedAt(0.5));
  const client = slow.open({ storage });
  expect(await Promise.all([client.getMe(), client.getMe()])).toMatchObject([{ id: 1 }, { id: 1 }]);
  expect(slow.requests.toSorted()).toEqual([REJECTED, REJECTED, READ, READ, RENEWAL].toSorted());
  expect(slow.events).toEqual([RENEWED]);
});

test("a rejected token is renewed and its request repeated only once", async () => {
  const { requests, events, open } = createService([() => toResponse(REJECTED_TOO)]);
  const client = open({ storage: createStorage(storedAt(0.5)).storage });
  expect(await errorOf(client.getMe())).toMatchObject({ code: "INVALID_TOKEN" });
  expect(requests).toEqual([REJECTED, RENEWAL, REJECTED]);
  expect(events).toEqual([REJECTED_TOO, null, "INVALID_TOKEN"]);
});

test("a token that another tab has renewed since the request is used; that of another user is not", async () => {
  for (const [token, expected] of [
    [RENEWED, [REJECTED, READ]],
    [tokenOf(1_000, "2"), [REJECTED]],
  ] as const) {
    const { requests, events, open } = createService();
    const { storage } = createStorage(storedAt(0.5));
    const reading = open({ storage }).getMe();
    storage.setItem(KEY, storedAt(0, token));
    expect(await errorOf(reading)).toMatchObject(expected.length > 1 ? { id: 1 } : { code: "INVALID_TOKEN" });
    expect([requests, events]).toEqual([[...expected], [token]]);
  }
});

test("without a network, the session is kept, the error is that of a request that was not sent, and the next request works", async () => {
  const { requests, events, open } = createService([offline]);
  const client = open({ storage: createStorage(storedAt(75)).storage });
  const error = { name: "LatchkeyConnectionError", path: "/auth/me", mayHaveBeenExecuted: false };
  expect(await errorOf(client.getMe())).toMatchObject(error);
  expect([client.token, events]).toEqual([EXPIRED, []]);
  expect(await client.getMe()).toMatchObject({ id: 1 });
  expect(requests).toEqual([RENEWAL, RENEWAL, READ]);
  const changing = createService([offline]).open({ storage: createStorage(storedAt(75)).storage });
  expect(await errorOf(changing.updateMe({ password: "a new password" }))).toMatchObject(error);
});

test("a renewal that is rejected ends the session, and its error is that of the request", async () => {
  const ended = () => Response.json({ code: "LOGIN_REQUIRED", detail: "log in" }, { status: 401 });
  const { requests, events, open } = createService([ended]);
  const client = open({ storage: createStorage(storedAt(75)).storage });
  expect(await errorOf(client.getMe())).toMatchObject({ code: "LOGIN_REQUIRED" });
  expect([requests, events]).toEqual([[RENEWAL], [null, "LOGIN_REQUIRED"]]);
});

test("a service that no longer renews ends the session by rejecting the request", async () => {
  const gone = () => Response.json({ code: "METHOD_NOT_ALLOWED", detail: "no" }, { status: 405 });
  const { requests, events, open } = createService([gone]);
  const client = open({ storage: createStorage(storedAt(75)).storage });
  expect(await errorOf(client.getMe())).toMatchObject({ code: "INVALID_TOKEN" });
  expect([requests, events]).toEqual([
    [RENEWAL, REJECTED],
    [null, "INVALID_TOKEN"],
  ]);
});

test("a request that waits can be aborted", async () => {
  const { open } = createService([() => new Promise<Response>(() => {})]);
  const client = open({ storage: createStorage(storedAt(75)).storage });
  const controller = new AbortController();
  const reading = client.getMe({ signal: controller.signal });
  controller.abort(new Error("enough"));
  expect(await errorOf(reading)).toMatchObject({ message: "enough" });
});

test("a client that is closed during the wait still ends it", async () => {
  const { requests, open } = createService();
  const client = open({ token: EXPIRED });
  await client.getMe().finally(client.close);
  expect(requests).toEqual([RENEWAL, READ]);
});
