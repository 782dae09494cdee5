/** Which responses end their connection: those to chunked requests, whose trailers the server does not read correctly. */
import { expect, test } from "bun:test";
import type { Database } from "@latchkey/database";
import { startService } from "../support/service.ts";
import { openWire, type Wire } from "../support/wire.ts";

const TODO = '{"title":"x"}';
const LARGE = " ".repeat(2 ** 21);

const chunked = (target: string, body: string, type = "application/json") =>
  `${target} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n`;

const REQUESTS = [
  [201, "POST /todos", TODO],
  [200, "GET /healthz", TODO],
  [401, "PATCH /auth/me", TODO],
  [405, "PUT /todos", TODO],
  [413, "POST /todos", LARGE],
  [422, "POST /auth/login", "{"],
  [429, "POST /todos", TODO],
  [500, "PATCH /todos/1", TODO],
  [500, "DELETE /todos/1", TODO],
] as const;

/** A bug that the error handler handles, and one that only the fallback error handler handles. */
const wrapDatabase = (database: Database): Database => ({
  ...database,
  todos: {
    ...database.todos,
    update: () => Promise.reject(new TypeError("a bug")),
    delete: () => Promise.reject(undefined),
  },
});

const connectionOf = (headers: readonly (readonly [string, string])[] = []) =>
  headers.find(([name]) => name === "connection")?.[1];

test.each(REQUESTS)(
  "a %d to a chunked %s closes its connection, so that nothing follows it",
  async (status, target, body) => {
    const env = { RATE_LIMIT_ENABLED: "true", RATE_LIMIT_DEFAULT: "1/hour" };
    await using service = await startService({ wrapDatabase, env });
    if (status === 429) await service.request("/todos");
    using wire: Wire = await openWire(service);
    wire.send(chunked(target, body));
    const response = await wire.readResponse(target.split(" ")[0] ?? "");
    expect([response?.status, connectionOf(response?.headers)]).toEqual([status, "close"]);
    wire.send("X-Trailer: 1\r\n\r\n");
    await wire.closed;
    expect(await wire.readResponse("GET")).toBeNull();
  },
);
