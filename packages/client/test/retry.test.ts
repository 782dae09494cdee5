/** Retries against the real service: over a rate limit, with a full hash queue and without a database. */
import { expect, test } from "bun:test";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { createClient, LatchkeyConnectionError, LatchkeyError } from "../src/index.ts";
import { ADA, errorOf, recordingFetch, startService } from "./support/service.ts";

const LIMITS = { RATE_LIMIT_ENABLED: "true" };

test.concurrent("requests over a rate limit wait for Retry-After, and each is done once", async () => {
  await using service = await startService({ ...LIMITS, RATE_LIMIT_DEFAULT: "3/second" });
  const { statuses, fetch } = recordingFetch();
  const client = createClient({ baseUrl: service.url, fetch });
  const titles = ["1", "2", "3", "4", "5", "6", "7", "8"];
  for (const title of titles) await client.createTodo({ title });
  expect(statuses).toContain(429);
  expect((await Array.fromAsync(client.todos())).map(({ title }) => title)).toEqual(titles);
});

test.concurrent.each([
  ["without retries", { retries: 0 }],
  ["if the wait would exceed the bound", { maxRetryWaitMs: 5_000 }],
])("%s, the first 429 is the error, at once", async (_case, options) => {
  await using service = await startService({ ...LIMITS, RATE_LIMIT_DEFAULT: "1/minute" });
  const { statuses, fetch } = recordingFetch();
  const client = createClient({ baseUrl: service.url, ...options, fetch });
  await client.listTodos();
  const startedAt = performance.now();
  const error = await errorOf(client.listTodos());
  expect(performance.now() - startedAt).toBeLessThan(1_000);
  expect(error).toBeInstanceOf(LatchkeyError);
  expect(error).toMatchObject({ status: 429, detail: "429: Too Many Requests: 1 per 1 minute" });
  expect(error).toHaveProperty("retryAfterSeconds", expect.any(Number));
  expect(statuses).toEqual([200, 429]);
});

test.concurrent("a signal ends the wait at once", async () => {
  await using service = await startService({ ...LIMITS, RATE_LIMIT_DEFAULT: "1/minute" });
  const controller = new AbortController();
  const reason = new Error("enough");
  const statuses: number[] = [];
  const client = createClient({
    baseUrl: service.url,
    maxRetryWaitMs: 120_000,
    fetch: async (request) => {
      const response = await fetch(request);
      statuses.push(response.status);
      // The client waits from the next turn of the event loop.
      if (response.status === 429) setTimeout(() => controller.abort(reason));
      return response;
    },
  });
  await client.listTodos();
  const { signal } = controller;
  expect(await errorOf(client.listTodos({}, { signal }))).toBe(reason);
  expect(statuses).toEqual([200, 429]);
});

test.concurrent("logins that find the hash queue full succeed later", async () => {
  await using service = await startService({ HASH_QUEUE_LIMIT: "1", HASH_KERNEL: "portable" });
  const { statuses, fetch } = recordingFetch();
  const client = createClient({ baseUrl: service.url, retries: 50, maxRetryWaitMs: 25_000, fetch });
  await client.register(ADA);
  const tokens = await Promise.all(Array.from({ length: 8 }, () => client.login(ADA)));
  expect(tokens).toHaveLength(8);
  expect(statuses).toContain(503);
}, 60_000);

test.concurrent("without Retry-After, idempotent requests are retried a bounded number of times, others are not", async () => {
  await using server = await startPostgresServer();
  await using service = await startService({ DATABASE_URL: await server.createDatabase() });
  const { statuses, fetch } = recordingFetch();
  const client = createClient({ baseUrl: service.url, fetch });
  await client.createTodo({ title: "Milk" });
  await server.kill();

  const statusesOf = async (call: () => Promise<unknown>): Promise<number[]> => {
    statuses.length = 0;
    expect(await errorOf(call())).toMatchObject({ status: 503 });
    return [...statuses];
  };
  expect(await statusesOf(() => client.getTodo(1))).toEqual([503, 503, 503]);
  expect(await statusesOf(() => client.deleteTodo(1))).toEqual([503, 503, 503]);
  expect(await statusesOf(() => client.createTodo({ title: "Bread" }))).toEqual([503]);
  expect(await statusesOf(() => client.updateTodo(1, { completed: true }))).toEqual([503]);

  // The database recovers during the wait.
  const read = createClient({ baseUrl: service.url, retries: 6, maxRetryWaitMs: 30_000, fetch }).getTodo(1);
  await server.start();
  expect(await read).toMatchObject({ title: "Milk" });
}, 60_000);

test.concurrent("Retry-After can be a date; a response with another status or an unreadable date is not retried", async () => {
  const inOneSecond = () => new Date(Date.now() + 1_000).toUTCString();
  const responses = [
    () => new Response(null, { status: 503, headers: { "retry-after": inOneSecond() } }),
    () => new Response(null, { status: 503, headers: { "retry-after": "soon" } }),
    () => new Response(null, { status: 500, headers: { "retry-after": "0" } }),
  ];
  let index = 0;
  await using proxy = Bun.serve({ port: 0, fetch: () => responses[index++]?.() ?? new Response() });
  const client = createClient({ baseUrl: proxy.url.origin });
  expect(await errorOf(client.createTodo({ title: "Milk" }))).toMatchObject({
    status: 503,
    retryAfterSeconds: undefined,
  });
  expect(await errorOf(client.listTodos())).toMatchObject({ status: 500 });
  expect(index).toBe(3);
});

test.concurrent("a lost response is a connection error; GET and DELETE are retried, and a retried DELETE that finds nothing succeeds", async () => {
  await using service = await startService();
  const sent: string[] = [];
  const client = createClient({
    baseUrl: service.url,
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
  const direct = createClient({ baseUrl: service.url });
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
