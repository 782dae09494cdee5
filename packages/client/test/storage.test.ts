/** Storage that is missing, late, asynchronous or broken never loses a login. */
import { expect, test } from "bun:test";
import { createClient, type TokenStorage } from "../src/index.ts";
import { errorOf } from "./support/service.ts";

const LOGIN = { email: "ada@example.com", password: "correct horse battery staple" };
const KEY = "latchkey http://service.example";
const fail = () => {
  throw new DOMException("", "SecurityError");
};

function startClient(storage: TokenStorage | (() => TokenStorage | null | undefined)) {
  const authorizations: (string | null)[] = [];
  const events: unknown[] = [];
  const client = createClient({
    baseUrl: "http://service.example",
    storage,
    onTokenChange: (token) => events.push(token),
    async fetch({ url, headers }) {
      if (url.endsWith("/auth/login"))
        return Response.json({ access_token: "new.b.c", token_type: "bearer" });
      authorizations.push(headers.get("authorization"));
      return Response.json({ id: 1 });
    },
  });
  return { client, authorizations, events };
}

function createStorage(failing: Partial<Record<keyof TokenStorage, () => never>> = {}) {
  const items = new Map<string, string>();
  const storage: TokenStorage = {
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => items.set(key, value),
    removeItem: (key) => items.delete(key),
    ...failing,
  };
  return { items, storage };
}

/** As React Native's: each method returns a promise, and reads come from the items. */
function createAsyncStorage() {
  const { items, storage } = createStorage();
  const later = <Value>(value: Value) => new Promise<Value>((resolve) => setTimeout(resolve, 1, value));
  const asynchronous: TokenStorage = {
    getItem: async (key) => later(await storage.getItem(key)),
    setItem: async (key, value) => void storage.setItem(key, await later(value)),
    removeItem: async (key) => void storage.removeItem(await later(key)),
  };
  return { items, storage: asynchronous };
}

const held = (token: string) => JSON.stringify({ token, renewAt: null });

// The casts are those of JavaScript, which checks no types.
const BROKEN: readonly [name: string, storage: TokenStorage | (() => TokenStorage | null | undefined)][] = [
  ["whose setItem throws", createStorage({ setItem: fail }).storage],
  ["whose getItem throws", createStorage({ getItem: fail }).storage],
  ["whose every method throws", createStorage({ getItem: fail, setItem: fail, removeItem: fail }).storage],
  ["without methods", {} as TokenStorage],
  ["whose methods throw when they are read", new Proxy({} as TokenStorage, { get: fail })],
  ["of a function that throws", fail],
  ["of a function that returns nothing", () => undefined],
  [
    "that rejects",
    { getItem: () => Promise.reject(), setItem: () => Promise.reject(), removeItem: () => Promise.reject() },
  ],
];

test.each(BROKEN)("with storage %s, a login is kept in memory", async (_name, storage) => {
  const { client, authorizations, events } = startClient(storage);
  expect(client.token).toBeUndefined();
  await client.login(LOGIN);
  await client.getMe();
  await client.getMe();
  expect([client.token, authorizations]).toEqual(["new.b.c", ["Bearer new.b.c", "Bearer new.b.c"]]);
  client.logout();
  expect([client.token, events]).toEqual([undefined, ["new.b.c", undefined]]);
});

test("a token that could not be replaced is removed, so that no later visit finds it", async () => {
  const { items, storage } = createStorage({ setItem: fail });
  items.set(KEY, held("old.b.c"));
  const { client } = startClient(storage);
  expect(client.token).toBe("old.b.c");
  await client.login(LOGIN);
  expect([client.token, items.size]).toEqual(["new.b.c", 0]);
});

test("a function is called once, when the token is first needed", () => {
  const { items, storage } = createStorage();
  items.set(KEY, held("old.b.c"));
  let calls = 0;
  const { client } = startClient(() => {
    calls++;
    return storage;
  });
  expect(calls).toBe(0);
  expect([client.token, client.token, calls]).toEqual(["old.b.c", "old.b.c", 1]);
});

test("with asynchronous storage, requests wait for the stored token, which is reported", async () => {
  const { items, storage } = createAsyncStorage();
  items.set(KEY, held("old.b.c"));
  const { client, authorizations, events } = startClient(() => storage);
  expect(client.token).toBeUndefined();
  await client.getMe();
  expect([authorizations, events]).toEqual([["Bearer old.b.c"], ["old.b.c"]]);
  await client.login(LOGIN);
  expect(JSON.parse(items.get(KEY) ?? "")).toMatchObject({ token: "new.b.c" });
});

test("a login or a logout before asynchronous storage was read wins", async () => {
  for (const act of ["login", "logout"] as const) {
    const { items, storage } = createAsyncStorage();
    items.set(KEY, held("old.b.c"));
    const { client } = startClient(storage);
    await (act === "login" ? client.login(LOGIN) : client.logout());
    await client.getMe();
    expect(client.token).toBe(act === "login" ? "new.b.c" : undefined);
  }
});

test("writes of asynchronous storage keep their order", async () => {
  const { items, storage } = createAsyncStorage();
  const { client } = startClient(storage);
  const first = client.login(LOGIN);
  await first;
  client.logout();
  await client.login(LOGIN);
  expect(items.size).toBe(1);
  expect(await errorOf(client.getMe())).toMatchObject({ id: 1 });
});
