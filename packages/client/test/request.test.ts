/** What the client sends, and that no response of a proxy or a captive portal is taken for one of the service. */
import { afterEach, expect, spyOn, test } from "bun:test";
import { type ClientOptions, createClient, LatchkeyError } from "../src/index.ts";
import { ADA, errorOf } from "./support/service.ts";

const restored: { mockRestore(): void }[] = [];
afterEach(() => {
  for (const spy of restored.splice(0)) spy.mockRestore();
});

const TOKEN = "a.b.c";
const PAGE = () =>
  new Response("<html>Welcome to this hotel</html>", { headers: { "content-type": "text/html" } });

/** A client whose requests all get this response, what it sends, and what it reports. */
function startClient(respond: (request: Request) => Response, options: Partial<ClientOptions> = {}) {
  const sent: { request: Request; signal: AbortSignal }[] = [];
  const ended: unknown[] = [];
  const client = createClient({
    baseUrl: "http://service.example",
    token: TOKEN,
    retries: 0,
    onSessionEnd: (error) => ended.push(error),
    fetch: async (request, { signal }) => {
      sent.push({ request, signal });
      return respond(request);
    },
    ...options,
  });
  return { client, sent, ended };
}

test("a fetch of the application gets the signal in the second argument, too", async () => {
  const { client, sent } = startClient(() => Response.json({ id: 1 }));
  await client.getTodo(1);
  expect(sent[0]?.signal).toBeInstanceOf(AbortSignal);
});

test("a response is read once: no clone, whose second body some environments lack", async () => {
  restored.push(spyOn(Response.prototype, "clone").mockImplementation(() => expect.unreachable()));
  const { client } = startClient(() => Response.json({ id: 1 }));
  expect(await client.getTodo(1)).toMatchObject({ id: 1 });
});

test("the global fetch gets a URL and a signal, so that Next.js does not memoize a GET; headers are looked up at each call, and the token takes precedence", async () => {
  let count = 0;
  const seen: (string | null)[][] = [];
  const headers = async () => ({ "x-forwarded-for": `192.0.2.${++count}`, authorization: "Basic x" });
  const client = createClient({ baseUrl: "http://service.example", token: TOKEN, headers });
  for (const _ of [1, 2]) {
    const spy = spyOn(globalThis, "fetch");
    spy.mockImplementation(
      Object.assign(
        async (input: string | URL | Request, init?: RequestInit) => {
          expect([input, init?.signal]).toEqual(["http://service.example/auth/me", expect.any(AbortSignal)]);
          const headers = new Headers(init?.headers);
          seen.push([headers.get("x-forwarded-for"), headers.get("authorization")]);
          return Response.json({ id: 1 });
        },
        { preconnect: fetch.preconnect },
      ),
    );
    await client.getMe();
    spy.mockRestore();
  }
  const authorization = `Bearer ${TOKEN}`;
  expect(seen).toEqual([
    ["192.0.2.1", authorization],
    ["192.0.2.2", authorization],
  ]);
});

test("headers can be constant", async () => {
  const { client, sent } = startClient(() => Response.json({ id: 1 }), {
    headers: { "x-request-id": "one" },
  });
  await client.createTodo({ title: "Milk" });
  const { headers } = sent[0]?.request ?? expect.unreachable();
  expect([headers.get("x-request-id"), headers.get("content-type")]).toEqual(["one", "application/json"]);
});

test("without AbortSignal.any and AbortSignal.timeout, requests time out and are aborted", async () => {
  const statics = { any: AbortSignal.any, timeout: AbortSignal.timeout };
  Reflect.deleteProperty(AbortSignal, "any");
  Reflect.deleteProperty(AbortSignal, "timeout");
  try {
    const never = (_request: Request, { signal }: { signal: AbortSignal }) =>
      new Promise<Response>((_resolve, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason)),
      );
    const { client } = startClient(PAGE, { fetch: never });
    expect(await errorOf(client.getTodo(1, { timeoutMs: 5 }))).toMatchObject({
      cause: { name: "TimeoutError" },
    });
    const controller = new AbortController();
    const reason = new Error("enough");
    const aborted = errorOf(client.getTodo(1, { signal: controller.signal }));
    controller.abort(reason);
    expect(await aborted).toBe(reason);
  } finally {
    Object.assign(AbortSignal, statics);
  }
});

const FOREIGN: readonly [name: string, respond: () => Response, status: number][] = [
  ["a page", PAGE, 200],
  ["an empty 200", () => new Response(null), 200],
  ["JSON without members", () => Response.json("ok"), 200],
  ["JSON of another program", () => Response.json({ ok: true }), 200],
  ["a proxy's 401", () => new Response("<h1>401</h1>", { status: 401 }), 401],
  ["a gateway's 401", () => Response.json({ message: "Unauthorized" }, { status: 401 }), 401],
  ["an error without detail", () => Response.json({ detail: null }, { status: 500 }), 500],
  [
    "an error whose issues are not ours",
    () => Response.json({ detail: [null, 1, {}] }, { status: 422 }),
    422,
  ],
  ["null", () => Response.json(null, { status: 403 }), 403],
];

test.each(FOREIGN)(
  "%s is a LatchkeyError with its status and ends no session",
  async (_name, respond, status) => {
    const { client, ended } = startClient(respond);
    const notRequests = ["logout", "close", "getToken", "begunEmailLogin", "todoPages", "todos"];
    const groups = [client, { list: client.passkeys.list }, { list: client.oidc.list }];
    const methods = groups.flatMap((group) => Object.entries(group));
    const requests = methods.filter(
      ([name, call]) => call instanceof Function && !notRequests.includes(name),
    );
    expect(requests.length).toBeGreaterThan(20);
    for (const [, call] of requests) {
      const error = await errorOf(Promise.resolve(Reflect.apply(call as () => unknown, client, [ADA, {}])));
      expect(error).toBeInstanceOf(LatchkeyError);
      expect(error).toMatchObject({ status, code: undefined, message: expect.stringMatching(/./) });
    }
    expect([client.token, ended]).toEqual([TOKEN, []]);
  },
);

test("a login, a renewal and a page without the member that they need are errors", async () => {
  const { client } = startClient(() => Response.json({}));
  for (const call of [() => client.login(ADA), client.renewToken, client.listTodos])
    expect(await errorOf(call())).toMatchObject({ name: "LatchkeyError", status: 200 });
  expect(client.token).toBe(TOKEN);
});
