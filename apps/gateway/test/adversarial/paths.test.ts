/** Unusual spellings of paths, sent over a raw socket: router, rate limit and log always agree on the route. */
import { expect, test } from "bun:test";
import { type Service, shareService, startService } from "../support/service.ts";
import { jsonRequest, openWire } from "../support/wire.ts";

/** The response to one request with exactly this target. */
async function get(service: Service, target: string, host = "x") {
  using wire = await openWire(service);
  wire.send(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  const response = await wire.readResponse("GET");
  return { status: response?.status, text: String(response?.body) };
}

const LIVE = '{"status":"ok"}';
const PREFLIGHT = "Origin: https://a.example\r\nAccess-Control-Request-Method: GET\r\nConnection: close";
const NOT_FOUND = '{"detail":"Not Found","code":"NOT_FOUND"}';

const shared = shareService();

test.each([
  ["/todos/../healthz", 200, LIVE],
  ["/a/b/../../healthz", 200, LIVE],
  ["/healthz/.", 200, LIVE],
  ["/%2e%2E/healthz", 200, LIVE],
  ["/todos/%2e./healthz", 200, LIVE],
  ["/todos\\..\\healthz", 200, LIVE],
  ["/../../../healthz", 200, LIVE],
  ["/healthz?/../todos", 200, LIVE],
  ["http://user:word@evil.example:99/healthz", 200, LIVE],
  ["/healthz/..", 404, NOT_FOUND],
  ["/healthz/..;/todos", 404, NOT_FOUND],
  ["/healthz%2f..%2ftodos", 404, NOT_FOUND],
  ["//healthz", 404, NOT_FOUND],
  ["/healthz//", 404, NOT_FOUND],
  ["//evil.example/healthz", 404, NOT_FOUND],
  ["/%68ealthz", 404, NOT_FOUND],
  ["/healthz%00", 404, NOT_FOUND],
  ["/healthz;x=1", 404, NOT_FOUND],
])(
  "dot segments are resolved, and no other spelling matches: %s returns %d",
  async (target, status, text) => {
    expect(await get(shared(), target)).toMatchObject({ status, text });
  },
);

test("dot segments do not bypass a quota", async () => {
  const env = { RATE_LIMIT_ENABLED: "true", RATE_LIMIT_DEFAULT: "4/hour", RATE_LIMIT_LOGIN: "1/hour" };
  await using service = await startService({ env });
  const body = '{"email":"nobody@example.org","password":"whatever"}';
  const login = (target: string) => service.raw(jsonRequest(`POST ${target}`, body, "Connection: close"));
  expect(await login("/todos/../auth/login")).toStartWith("HTTP/1.1 401 ");
  expect(await login("/auth/./login")).toStartWith("HTTP/1.1 429 ");
  expect(service.derivations()).toBe(1);
  expect((await get(service, "/healthz/../todos")).status).toBe(200);
  expect((await get(service, "/docs/assets/../../todos")).status).toBe(200);
  expect((await get(service, "/healthz/../todos")).status).toBe(429);
  expect((await get(service, "/todos/../healthz")).status).toBe(200);
});

test("the Host header does not affect the path", async () => {
  const service = shared();
  for (const host of ["x/auth/me?", "x/auth/me#", "@x/auth/me?", "[::1", "a%zz", "x:99999", ""]) {
    const { status, text } = await get(service, "/healthz", host);
    expect([host, status, text]).toEqual([host, 200, LIVE]);
    const preflight = await service.raw(`OPTIONS /todos HTTP/1.1\r\nHost: ${host}\r\n${PREFLIGHT}\r\n\r\n`);
    expect([host, preflight]).toEqual([host, expect.stringMatching(/^HTTP\/1\.1 204 /)]);
  }
  expect(service.log.map(({ route }) => route)).not.toContain("/auth/me");
});

test.each(["%31", "1%00", "%2531", "%zz", "%ff%fe", "%", "\xe9", "a".repeat(8_000)])(
  "an id in the path is decoded once: /todos/%s returns the todo 1 or 422, never a server error",
  async (id) => {
    await shared().call("POST", "/todos", { body: { title: "x" } });
    const { status } = await get(shared(), `/todos/${id}`);
    expect(status).toBe(id === "%31" ? 200 : 422);
  },
);
