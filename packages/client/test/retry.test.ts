/** Retries over a rate limit of the real service, and after responses that are lost, late or those of a proxy. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type ClientOptions, createClient, LatchkeyConnectionError, LatchkeyError } from "../src/index.ts";
import { ADA, errorOf, type RunningService, recordingFetch, startService } from "./support/service.ts";

let unlimited: RunningService;
beforeAll(async () => {
  unlimited = await startService();
});
afterAll(() => unlimited[Symbol.asyncDispose]());

test.concurrent("requests over a rate limit wait for Retry-After, and each is done once", async () => {
  await using service = await startService({ RATE_LIMIT_ENABLED: "true", RATE_LIMIT_DEFAULT: "3/second" });
  const { statuses, fetch } = recordingFetch();
  const client = createClient({ baseUrl: service.url, fetch });
  const titles = ["1", "2", "3", "4", "5", "6", "7", "8"];
  for (const title of titles) await client.createTodo({ title });
  expect(statuses).toContain(429);
  expect((await Array.fromAsync(client.todos())).map(({ title }) => title)).toEqual(titles);
});

/** A client whose requests all get this response, and their methods so far. */
function startClient(response: () => Response, options: Partial<ClientOptions> = {}) {
  const sent: string[] = [];
  const fetch = async ({ method }: Request) => {
    sent.push(method);
    return response();
  };
  return { sent, client: createClient({ baseUrl: "http://service.example", fetch, ...options }) };
}

const limited = () => Response.json({ detail: "wait" }, { status: 429, headers: { "retry-after": "60" } });

test.concurrent.each([
  ["without retries", { retries: 0, maxRetryWaitMs: 120_000 }],
  ["if the wait would exceed the bound", { maxRetryWaitMs: 59_999 }],
])("%s, the first 429 is the error, at once", async (_case, options) => {
  const { sent, client } = startClient(limited, options);
  const error = await errorOf(client.listTodos());
  expect(error).toBeInstanceOf(LatchkeyError);
  expect(error).toMatchObject({ status: 429, detail: "wait", retryAfterSeconds: 60 });
  expect(sent).toEqual(["GET"]);
});

test.concurrent("a signal ends the wait at once", async () => {
  const controller = new AbortController();
  const reason = new Error("enough");
  const respond = () => {
    // The client waits from the next turn of the event loop.
    setTimeout(() => controller.abort(reason));
    return limited();
  };
  const { sent, client } = startClient(respond, { maxRetryWaitMs: 120_000 });
  expect(await errorOf(client.listTodos({}, { signal: controller.signal }))).toBe(reason);
  expect(sent).toEqual(["GET"]);
});

test.concurrent("without Retry-After, idempotent requests are retried a bounded number of times, others are not", async () => {
  const { sent, client } = startClient(() => new Response(null, { status: 503 }));
  for (const call of [
    () => client.getTodo(1),
    () => client.deleteTodo(1),
    () => client.createTodo({ title: "Bread" }),
    () => client.updateTodo(1, { completed: true }),
  ])
    expect(await errorOf(call())).toMatchObject({ status: 503 });
  expect(sent).toEqual(["GET", "GET", "GET", "DELETE", "DELETE", "DELETE", "POST", "PATCH"]);
});

test.concurrent("Retry-After can be a date; a response with another status or an unreadable date is not retried", async () => {
  const inOneSecond = new Date(Date.now() + 1_000).toUTCString();
  const responses = [
    new Response(null, { status: 503, headers: { "retry-after": inOneSecond } }),
    new Response(null, { status: 503, headers: { "retry-after": "soon" } }),
    new Response(null, { status: 500, headers: { "retry-after": "0" } }),
  ];
  const { sent, client } = startClient(() => responses.shift() ?? new Response());
  expect(await errorOf(client.createTodo({ title: "Milk" }))).toMatchObject({
    status: 503,
    retryAfterSeconds: undefined,
  });
  expect(await errorOf(client.listTodos())).toMatchObject({ status: 500 });
  expect(sent).toEqual(["POST", "POST", "GET"]);
});

test.concurrent("a lost response is a connection error; GET and DELETE are retried, and a retried DELETE that finds nothing succeeds", async () => {
  const sent: string[] = [];
  const client = createClient({
    baseUrl: unlimited.url,
    // Every first response is lost.
    fetch: async (request) => {
      const response = await fetch(request);
      if (sent.push(request.method) % 2 === 1) throw new TypeError("lost");
      return response;
    },
  });
  const title = "Milk";
  const error = await errorOf(client.createTodo({ title }));
  expect(error).toBeInstanceOf(LatchkeyConnectionError);
  expect(error).toMatchObject({ method: "POST", path: "/todos", mayHaveBeenExecuted: true });
  sent.length = 0;
  expect(await client.getTodo(1)).toMatchObject({ title });
  expect(await client.deleteTodo(1)).toBeUndefined();
  expect(sent).toEqual(["GET", "GET", "DELETE", "DELETE"]);
  const direct = createClient({ baseUrl: unlimited.url });
  expect(await errorOf(direct.deleteTodo(1))).toMatchObject({ status: 404 });
});

test.concurrent("a response that takes longer than the timeout, also its body, is a connection error", async () => {
  await using slow = Bun.serve({
    port: 0,
    fetch: ({ method }) =>
      method === "GET" ? new Response(new ReadableStream({ start() {} })) : new Promise<Response>(() => {}),
  });
  const client = createClient({ baseUrl: slow.url.origin, retries: 0, timeoutMs: 50 });
  const patient = createClient({ baseUrl: slow.url.origin, retries: 0, timeoutMs: 600_000 });
  for (const call of [
    () => client.getTodo(1),
    () => client.deleteTodo(1),
    () => patient.getTodo(1, { timeoutMs: 50 }),
  ]) {
    const error = await errorOf(call());
    expect(error).toBeInstanceOf(LatchkeyConnectionError);
    expect(error).toMatchObject({ mayHaveBeenExecuted: true, cause: { name: "TimeoutError" } });
  }
});

test.concurrent.each([
  ["503, which can follow a deletion", 503, undefined],
  ["429, which precedes every deletion", 429, 404],
])("a DELETE that is repeated after %s, and then finds nothing", async (_case, first, expected) => {
  const statuses = [first, 404];
  const { client } = startClient(
    () => new Response(null, { status: statuses.shift() ?? 500, headers: { "retry-after": "0" } }),
  );
  const error = await client.deleteTodo(1).catch(({ status }) => status);
  expect(error).toBe(expected);
  expect(statuses).toEqual([]);
});

test.concurrent("each retry is reported before its wait, with the error that causes it", async () => {
  const retries: unknown[] = [];
  const answers = [new Response(null, { status: 503 }), Response.json({ id: 1 })];
  const { client } = startClient(() => answers.shift() ?? expect.unreachable(), {
    onRetry: (retry) => retries.push(retry),
  });
  await client.getTodo(1);
  const error = expect.objectContaining({ name: "LatchkeyError", status: 503 });
  expect(retries).toEqual([{ method: "GET", path: "/todos/1", retry: 1, delayMs: 500, error }]);
});

test.concurrent("a revocation whose first response was lost succeeds, and ends the session without an error", async () => {
  let isLost = true;
  const events: unknown[] = [];
  const client = createClient({
    baseUrl: unlimited.url,
    onSessionEnd: ({ code }) => events.push(code),
    async fetch(request) {
      const response = await fetch(request);
      if (request.method !== "DELETE" || !isLost) return response;
      isLost = false;
      throw new TypeError("lost");
    },
  });
  await client.register(ADA);
  const { access_token } = await client.login(ADA);
  expect(await client.revokeTokens()).toBeUndefined();
  expect([client.token, events]).toEqual([undefined, []]);
  const revoked = createClient({ baseUrl: unlimited.url, token: access_token });
  // Without a lost response, a token that the service rejects is an error.
  expect(await errorOf(revoked.revokeTokens())).toMatchObject({ code: "INVALID_TOKEN" });
});

test.concurrent("clients of one application server that forward the address have limits of their own", async () => {
  await using service = await startService({
    RATE_LIMIT_ENABLED: "true",
    RATE_LIMIT_LOGIN: "1/hour",
    TRUST_PROXY: "1",
  });
  const logInFrom = (address: string) =>
    errorOf(
      createClient({
        baseUrl: service.url,
        retries: 0,
        headers: { "x-forwarded-for": address },
      }).login(ADA),
    );
  for (const address of ["192.0.2.1", "192.0.2.2"]) {
    expect(await logInFrom(address)).toMatchObject({ status: 401 });
    expect(await logInFrom(address)).toMatchObject({ status: 429 });
  }
});
