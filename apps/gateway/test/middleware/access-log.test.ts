/** The access log: one line per request, whose level depends on the path; `app.test.ts` checks every kind of response. */
import { expect, test } from "bun:test";
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
