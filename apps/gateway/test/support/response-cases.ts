/** One request for each kind of response, for tests that check all of them. */
import { BODY_MAX_BYTES } from "@latchkey/contracts";
import { QueueFull } from "@latchkey/hashing";
import type { Service, ServiceOptions } from "./service.ts";

export const ORIGIN = "https://app.example";
export const REQUEST_ID = "order-test.1";
const SENT = { origin: ORIGIN, "x-request-id": REQUEST_ID };

export interface ResponseCase {
  readonly status: number;
  readonly send: (service: Service) => Promise<Response>;
  readonly start?: ServiceOptions;
  /** Not rate-limited, so it has no RateLimit headers. */
  readonly skipRateLimit?: true;
  /** The documentation pages have their own policy. */
  readonly hasOwnPolicy?: true;
  /** The documentation can be cached. */
  readonly isCacheable?: true;
}

const request =
  (method: string, path: string, options: { body?: unknown; headers?: Record<string, string> } = {}) =>
  ({ url }: Service): Promise<Response> => {
    const { body, headers } = options;
    return fetch(url + path, {
      method,
      headers: { ...SENT, ...(body !== undefined && { "content-type": "application/json" }), ...headers },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
  };
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const NOBODY = { email: "nobody@example.org", password: "whatever it is" };

/** Exceeds the limit without announcing its length. */
const chunkedBody = () =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new Uint8Array(BODY_MAX_BYTES + 1));
      controller.close();
    },
  });

async function sendTwice(service: Service, send: (service: Service) => Promise<Response>): Promise<Response> {
  await send(service);
  return send(service);
}

export const RESPONSE_CASES: Readonly<Record<string, ResponseCase>> = {
  "200": { status: 200, send: request("GET", "/todos") },
  "201": { status: 201, send: request("POST", "/todos", { body: { title: "Buy milk" } }) },
  "204": {
    status: 204,
    async send(service) {
      const { id } = await service.database.todos.create({ title: "Buy milk", completed: false });
      return request("DELETE", `/todos/${id}`)(service);
    },
  },
  "401": { status: 401, send: request("GET", "/auth/me") },
  "403": {
    status: 403,
    async send(service) {
      const { id, token } = await service.createUser();
      await service.database.users.setActive(id, false);
      return request("GET", "/auth/me", { headers: bearer(token) })(service);
    },
  },
  "404 for an unknown path": { status: 404, send: request("GET", "/nowhere") },
  "404 for an unknown id": { status: 404, send: request("GET", "/todos/404") },
  "405": { status: 405, send: request("PUT", "/todos") },
  "409": {
    status: 409,
    async send(service) {
      const { user: _, ...credentials } = await service.register();
      return request("POST", "/auth/register", { body: credentials })(service);
    },
  },
  "413 by content-length": {
    status: 413,
    send: request("POST", "/todos", { body: " ".repeat(BODY_MAX_BYTES + 1) }),
  },
  "413 chunked": {
    status: 413,
    send: ({ url }) =>
      fetch(`${url}/todos`, {
        method: "POST",
        headers: { ...SENT, "content-type": "application/json" },
        body: chunkedBody(),
      }),
  },
  "422 for an invalid member": { status: 422, send: request("POST", "/todos", { body: { title: 1 } }) },
  "422 for malformed JSON": { status: 422, send: request("POST", "/todos", { body: "{" }) },
  "429 of the default quota": {
    status: 429,
    start: { env: { RATE_LIMIT_DEFAULT: "1/hour" } },
    send: (service) => sendTwice(service, request("GET", "/todos")),
  },
  "429 of the login quota": {
    status: 429,
    start: { env: { RATE_LIMIT_LOGIN: "1/hour" } },
    send: (service) => sendTwice(service, request("POST", "/auth/login", { body: NOBODY })),
  },
  "429 of the register quota": {
    status: 429,
    start: { env: { RATE_LIMIT_REGISTER: "1/hour" } },
    send: (service) =>
      sendTwice(service, request("POST", "/auth/register", { body: { ...NOBODY, username: "nobody" } })),
  },
  "500": {
    status: 500,
    start: {
      wrapDatabase: (database) => ({
        ...database,
        todos: { ...database.todos, list: () => Promise.reject(new TypeError("a bug")) },
      }),
    },
    send: request("GET", "/todos"),
  },
  "503 for a full hash queue": {
    status: 503,
    start: {
      wrapHasher: (hasher) => ({ ...hasher, verify: () => Promise.reject(new QueueFull(1)) }),
    },
    send: request("POST", "/auth/login", { body: NOBODY }),
  },
  "503 for an unreachable database": {
    status: 503,
    async send(service) {
      await service.database.close();
      return request("GET", "/todos")(service);
    },
  },
  "503 of the readiness probe": {
    status: 503,
    start: { isStopping: () => true },
    send: request("GET", "/readyz"),
    skipRateLimit: true,
  },
  "the liveness probe": { status: 200, send: request("GET", "/healthz"), skipRateLimit: true },
  "a preflight": {
    status: 204,
    send: request("OPTIONS", "/todos", { headers: { "access-control-request-method": "POST" } }),
    skipRateLimit: true,
  },
  "OPTIONS that is not a preflight": { status: 405, send: request("OPTIONS", "/todos") },
  HEAD: { status: 200, send: request("HEAD", "/todos") },
  "HEAD for an unknown path": { status: 404, send: request("HEAD", "/nowhere") },
  "the explorer page": {
    status: 200,
    send: request("GET", "/docs"),
    hasOwnPolicy: true,
    isCacheable: true,
  },
  "the reference page": {
    status: 200,
    send: request("GET", "/redoc"),
    hasOwnPolicy: true,
    isCacheable: true,
  },
  "the OpenAPI document": { status: 200, send: request("GET", "/openapi.json"), isCacheable: true },
  "304 for the OpenAPI document": {
    status: 304,
    async send(service) {
      const { headers } = await request("GET", "/openapi.json")(service);
      return request("GET", "/openapi.json", { headers: { "if-none-match": headers.get("etag") ?? "" } })(
        service,
      );
    },
    isCacheable: true,
  },
  "an asset of the pages": {
    status: 200,
    async send(service) {
      const page = await (await request("GET", "/docs")(service)).text();
      return request("GET", /(?:src|href)="(\/[^"]+\.(?:js|css))"/.exec(page)?.[1] ?? "no asset")(service);
    },
    skipRateLimit: true,
    isCacheable: true,
  },
};
