/** The access log: one line per request, whose level depends on the path; `app.test.ts` checks every kind of response. */
import { expect, test } from "bun:test";
import { DatabaseUnavailable } from "@latchkey/database";
import type { CallOptions } from "../support/client.ts";
import { forge } from "../support/forge-token.ts";
import { startService } from "../support/service.ts";

test("a log line contains time, level, a message, request id, method, route pattern, status, duration, client address and user id", async () => {
  await using service = await startService();
  const { id, token } = await service.createUser();
  await service.call("GET", "/auth/me", { token, headers: { "x-request-id": "mine" } });
  // A line follows its response, so wait for one more exchange.
  await service.request("/healthz");
  const line = service.log.find(({ request_id }) => request_id === "mine");
  expect(line).toEqual({
    level: 30,
    time: expect.any(Number),
    request_id: "mine",
    request_id_inbound: true,
    method: "GET",
    route: "/auth/me",
    status: 200,
    duration_ms: expect.any(Number),
    client_address: "127.0.0.1",
    user_id: id,
    msg: expect.stringMatching(/^GET \/auth\/me 200 \d+\.\d ms$/),
  });
  expect(line?.duration_ms).toBeGreaterThan(0);
});

test("the line of every error response has its code, whichever part of the service responds", async () => {
  await using service = await startService({
    env: { RATE_LIMIT_ENABLED: "true", RATE_LIMIT_LOGIN: "1/minute", RATE_LIMIT_DEFAULT: "12/minute" },
    wrapDatabase: ({ todos }) => ({
      todos: {
        list: () => Promise.reject(new Error("unexpected")),
        delete: async (id) =>
          id === 1 ? Promise.reject(new DatabaseUnavailable("DEADLINE")) : todos.delete(id),
      },
    }),
  });
  const body = { email: "a@example.org", password: "wrong one" };
  const requests: [method: string, path: string, options: CallOptions, code: string | undefined][] = [
    ["GET", "/nowhere", {}, "NOT_FOUND"],
    ["PUT", "/todos", {}, "METHOD_NOT_ALLOWED"],
    ["POST", "/auth/login", { body: "{" }, "INVALID_REQUEST"],
    ["POST", "/auth/login", { body: {} }, "INVALID_REQUEST"],
    ["POST", "/auth/login", { body }, "INVALID_CREDENTIALS"],
    ["POST", "/auth/login", { body }, "TOO_MANY_REQUESTS"],
    ["POST", "/todos", { body: "x".repeat(200_000) }, "PAYLOAD_TOO_LARGE"],
    ["GET", "/auth/me", {}, "INVALID_TOKEN"],
    ["GET", "/todos", {}, "INTERNAL_ERROR"],
    ["DELETE", "/todos/1", {}, "DATABASE_UNAVAILABLE"],
    ["DELETE", "/todos/2", {}, "TODO_NOT_FOUND"],
    ["POST", "/todos", { body: { title: "one" } }, undefined],
    ["GET", "/todos", {}, "TOO_MANY_REQUESTS"],
  ];
  for (const [method, path, options] of requests) await service.call(method, path, options);
  await service.request("/healthz");
  const lines = service.log.filter(({ duration_ms, route }) => duration_ms && route !== "/healthz");
  expect(lines.map(({ code }) => code)).toEqual(requests.map(([, , , code]) => code));
});

test("the line of a token that is rejected after its signature was verified has the user's id, that of a forged one has none", async () => {
  await using service = await startService();
  const { id, token, ...user } = await service.createUser();
  const me = async (bearer: string) => (await service.call("GET", "/auth/me", { token: bearer })).status;
  const expired = forge({ claims: { sub: String(id), exp: 1 } });
  const forged = forge({
    claims: { sub: String(id), exp: 4e9 },
    key: "another key of the same length, 32 bytes",
  });
  expect([await me(expired), await me(forged), await me(token)]).toEqual([401, 401, 200]);
  await service.database.users.revokeTokens(id);
  expect(await me(token)).toBe(401);
  const second = await service.login(user);
  await service.database.users.changeAsOperator(id, { isActive: false });
  expect(await me(second)).toBe(403);
  await service.database.users.delete(id);
  expect(await me(second)).toBe(404);
  await service.request("/healthz");
  const lines = service.log.filter(({ route }) => route === "/auth/me");
  expect(lines.map(({ code, user_id }) => [code, user_id])).toEqual([
    ["INVALID_TOKEN", id],
    ["INVALID_TOKEN", undefined],
    [undefined, id],
    ["INVALID_TOKEN", id],
    ["INACTIVE_USER", id],
    ["USER_NOT_FOUND", id],
  ]);
});

test("probes are logged at level debug, other requests at level info", async () => {
  await using service = await startService();
  for (const path of ["/healthz", "/readyz", "/healthz/", "/todos", "/healthz"]) await service.request(path);
  expect(service.log.slice(0, 4).map(({ route, level }) => [route, level])).toEqual([
    ["/healthz", 20],
    ["/readyz", 20],
    ["/healthz", 20],
    ["/todos", 30],
  ]);
});
