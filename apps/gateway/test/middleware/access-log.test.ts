/** Each request writes exactly one log line, and no log line contains a secret. */
import { expect, test } from "bun:test";
import { type LogLine, type Service, type ServiceOptions, startService } from "../support/service.ts";

/** The lines of all requests so far except probes. A line follows its response, so wait for one more exchange. */
async function linesOf(service: Service): Promise<LogLine[]> {
  await service.request("/healthz");
  return service.log.filter(({ duration_ms, route }) => duration_ms !== undefined && route !== "/healthz");
}

const start = (env: Record<string, string> = {}, options: ServiceOptions = {}) =>
  startService({ ...options, env: { RATE_LIMIT_ENABLED: "true", RATE_LIMIT_LOGIN: "1/hour", ...env } });

test("a log line contains time, level, a message, request id, method, route pattern, status, duration, client address and user id", async () => {
  await using service = await start();
  const { id, token } = await service.createUser();
  const response = await service.call("GET", "/auth/me", { token, headers: { "x-request-id": "mine" } });
  expect(response.status).toBe(200);
  const line = (await linesOf(service)).at(-1);
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

test("every kind of response writes exactly one log line with its status", async () => {
  const fail = () => Promise.reject(new TypeError("a bug"));
  await using service = await start(
    {},
    { wrapDatabase: (database) => ({ ...database, todos: { ...database.todos, update: fail } }) },
  );
  const nobody = { email: "nobody@example.org", password: "x" };
  const preflight = { origin: "https://a.example", "access-control-request-method": "GET" };
  const requests = [
    ["GET", "/todos", {}, 200, "/todos"],
    ["HEAD", "/todos", {}, 200, "/todos"],
    ["POST", "/todos", { body: { title: "x" } }, 201, "/todos"],
    ["DELETE", "/todos/1", {}, 204, "/todos/:id"],
    ["GET", "/auth/me", {}, 401, "/auth/me"],
    ["POST", "/auth/login", { body: nobody }, 401, "/auth/login"],
    ["POST", "/auth/login", { body: nobody }, 429, "/auth/login"],
    ["GET", "/todos/404", {}, 404, "/todos/:id"],
    ["GET", "/nowhere", {}, 404, undefined],
    ["GET", "/", { headers: { accept: "text/html" } }, 303, "/"],
    ["PUT", "/todos", {}, 405, "/todos"],
    ["POST", "/todos", { body: " ".repeat(2 ** 20 + 1) }, 413, undefined],
    ["POST", "/todos", { body: "{" }, 422, "/todos"],
    ["PATCH", "/todos/1", { body: {} }, 500, "/todos/:id"],
    ["OPTIONS", "/todos", { headers: preflight }, 204, undefined],
  ] as const;
  for (const [method, path, options, status] of requests) {
    expect((await service.call(method, path, options)).status).toBe(status);
  }
  const lines = (await linesOf(service)).map(({ method, status, route }) => [method, status, route]);
  expect(lines).toEqual(requests.map(([method, , , status, route]) => [method, status, route]));
});

test("probes are logged at level debug, other requests at level info", async () => {
  await using service = await start({ LOG_LEVEL: "debug" });
  for (const path of ["/healthz", "/readyz", "/healthz/", "/todos"]) await service.request(path);
  await service.request("/healthz");
  const levels = service.log.map(({ route, level }) => [route, level]);
  expect(levels.slice(0, 4)).toEqual([
    ["/healthz", 20],
    ["/readyz", 20],
    ["/healthz", 20],
    ["/todos", 30],
  ]);
});
