/** One request for each kind of response, for tests that check all of them. */
import { BODY_MAX_BYTES } from "@latchkey/contracts";
import { QueueFull } from "@latchkey/hashing";
import type { CallOptions, ClientResponse } from "./client.ts";
import type { Service, ServiceOptions } from "./service.ts";

export const ORIGIN = "https://app.example";
export const REQUEST_ID = "order-test.1";
const SENT = { origin: ORIGIN, "x-request-id": REQUEST_ID };

type Send = (service: Service) => Promise<ClientResponse>;

export interface ResponseCase {
  readonly status: number;
  readonly send: Send;
  readonly start?: ServiceOptions;
  /** Not rate-limited, so it has no RateLimit headers. */
  readonly skipRateLimit?: true;
  /** The documentation pages have their own policy. */
  readonly hasOwnPolicy?: true;
  /** The documentation can be cached. */
  readonly isCacheable?: true;
}

const NOBODY = { email: "nobody@example.org", username: "nobody", password: "whatever it is" };

const call =
  (method: string, path: string, { headers, ...options }: CallOptions = {}): Send =>
  (service) =>
    service.call(method, path, { ...options, headers: { ...SENT, ...headers } });

const twice =
  (send: Send): Send =>
  async (service) => {
    await send(service);
    return send(service);
  };

/** Exceeds the limit without announcing its length. */
const chunkedBody = () =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new Uint8Array(BODY_MAX_BYTES + 1));
      controller.close();
    },
  });

export const RESPONSE_CASES: Readonly<Record<string, ResponseCase>> = {
  "200": { status: 200, send: call("GET", "/todos") },
  "201": { status: 201, send: call("POST", "/todos", { body: { title: "Buy milk" } }) },
  "204": {
    status: 204,
    async send(service) {
      const { id } = await service.database.todos.create({ title: "Buy milk", completed: false });
      return call("DELETE", `/todos/${id}`)(service);
    },
  },
  "401": { status: 401, send: call("GET", "/auth/me") },
  "403": {
    status: 403,
    async send(service) {
      const { id, token } = await service.createUser();
      await service.database.users.setActive(id, false);
      return call("GET", "/auth/me", { token })(service);
    },
  },
  "404 for an unknown path": { status: 404, send: call("GET", "/nowhere") },
  "404 for an unknown id": { status: 404, send: call("GET", "/todos/404") },
  "405": { status: 405, send: call("PUT", "/todos") },
  "409": { status: 409, send: twice(call("POST", "/auth/register", { body: NOBODY })) },
  "413 by content-length": {
    status: 413,
    send: call("POST", "/todos", { body: " ".repeat(BODY_MAX_BYTES + 1) }),
  },
  "413 chunked": {
    status: 413,
    send: (service) => call("POST", "/todos", { body: chunkedBody() })(service),
  },
  "422 for an invalid member": { status: 422, send: call("POST", "/todos", { body: { title: 1 } }) },
  "422 for malformed JSON": { status: 422, send: call("POST", "/todos", { body: "{" }) },
  "429 of the default quota": {
    status: 429,
    start: { env: { RATE_LIMIT_DEFAULT: "1/hour" } },
    send: twice(call("GET", "/todos")),
  },
  "429 of the login quota": {
    status: 429,
    start: { env: { RATE_LIMIT_LOGIN: "1/hour" } },
    send: twice(call("POST", "/auth/login", { body: NOBODY })),
  },
  "500": {
    status: 500,
    start: { wrapDatabase: () => ({ todos: { list: () => Promise.reject(new TypeError("a bug")) } }) },
    send: call("GET", "/todos"),
  },
  "503 for a full hash queue": {
    status: 503,
    start: { wrapHasher: () => ({ verify: () => Promise.reject(new QueueFull(1)) }) },
    send: call("POST", "/auth/login", { body: NOBODY }),
  },
  "503 for an unreachable database": {
    status: 503,
    async send(service) {
      await service.database.close();
      return call("GET", "/todos")(service);
    },
  },
  "503 of the readiness probe": {
    status: 503,
    start: { isStopping: () => true },
    send: call("GET", "/readyz"),
    skipRateLimit: true,
  },
  "the liveness probe": { status: 200, send: call("GET", "/healthz"), skipRateLimit: true },
  "a preflight": {
    status: 204,
    send: call("OPTIONS", "/todos", { headers: { "access-control-request-method": "POST" } }),
    skipRateLimit: true,
  },
  "OPTIONS that is not a preflight": { status: 405, send: call("OPTIONS", "/todos") },
  HEAD: { status: 200, send: call("HEAD", "/todos") },
  "HEAD for an unknown path": { status: 404, send: call("HEAD", "/nowhere") },
  "the explorer page": { status: 200, send: call("GET", "/docs"), hasOwnPolicy: true, isCacheable: true },
  "the reference page": { status: 200, send: call("GET", "/redoc"), hasOwnPolicy: true, isCacheable: true },
  "the OpenAPI document": { status: 200, send: call("GET", "/openapi.json"), isCacheable: true },
  "304 for the OpenAPI document": {
    status: 304,
    async send(service) {
      const { headers } = await call("GET", "/openapi.json")(service);
      const held = headers.get("etag") ?? "";
      return call("GET", "/openapi.json", { headers: { "if-none-match": held } })(service);
    },
    isCacheable: true,
  },
  "an asset of the pages": {
    status: 200,
    async send(service) {
      const { text } = await service.call("GET", "/docs");
      return call("GET", /(?:src|href)="(\/[^"]+\.(?:js|css))"/.exec(text)?.[1] ?? "no asset")(service);
    },
    skipRateLimit: true,
    isCacheable: true,
  },
};
