/** Each error code keeps its response, and an unexpected error reveals nothing to the client. */
import { expect, test } from "bun:test";
import {
  ERROR_CODES,
  ERROR_TABLE,
  type ErrorProperties,
  errorResponseFor,
  toErrorResponse,
} from "../src/errors.ts";
import { type LogLine, type Service, shareService, startService } from "./support/service.ts";

const PROPERTIES: ErrorProperties = {
  issues: [{ loc: ["body", "email"], msg: "is required", type: "missing" }],
  quota: "5 per 1 minute",
  allow: "GET, HEAD",
  retryAfterSeconds: 7,
};

// Clients rely on these values: do not update the snapshot of an existing code. That of a new one is added.
test.each(ERROR_CODES)("%s keeps its status, detail and headers", (code) => {
  const response = errorResponseFor(code, PROPERTIES);
  expect(JSON.stringify(response)).toMatchSnapshot();
  expect(toErrorResponse(Object.assign(new Error("inside"), { code, ...PROPERTIES }))).toEqual(response);
});

test("every error has a description for the OpenAPI document", () => {
  for (const { description } of Object.values(ERROR_TABLE)) expect(description).toMatch(/^[A-Z].+\.$/);
});

const INTERNAL_ERROR = '{"detail":"Internal Server Error","code":"INTERNAL_ERROR"}';
const SECRET = "select hashed_password from users -- /srv/latchkey/src/secret.ts:12";
const withMembers = (members: object) => Object.assign(new Error(SECRET), members);

/** Values that a bug can throw, including those from which frameworks derive a status or a response. */
const UNEXPECTED: Record<string, () => unknown> = {
  "an error": () => new TypeError(SECRET),
  "an error with a cause": () => new Error(SECRET, { cause: new Error(SECRET) }),
  "an error with an unknown code": () => withMembers({ code: "SQLITE_CORRUPT" }),
  "an error whose code is the name of an inherited property": () => withMembers({ code: "constructor" }),
  "an error with a status of its own": () => withMembers({ status: 418, statusCode: 418 }),
  "an error with a toResponse method": () =>
    withMembers({ toResponse: () => new Response(SECRET, { status: 200 }) }),
  "a string": () => SECRET,
  "a plain object with a code": () => ({ code: "NOT_FOUND", message: SECRET }),
};

let thrown: () => unknown;
const shared = shareService({ wrapDatabase: () => ({ todos: { list: () => Promise.reject(thrown()) } }) });
/** Waits for one more exchange, because the line of a request is written after its response. */
async function errorLines(service: Service): Promise<LogLine[]> {
  await service.request("/healthz");
  return service.log.filter(({ err }) => err !== undefined);
}

test.each(Object.entries(UNEXPECTED))(
  "an unexpected error returns 500 without details, and its cause is logged: %s",
  async (_name, make) => {
    thrown = make;
    const response = await shared().call("GET", "/todos");
    expect([response.status, response.text]).toEqual([500, INTERNAL_ERROR]);
    expect(response.headers.get("content-type")).toStartWith("application/json");
    expect(JSON.stringify(Object.fromEntries(response.headers))).not.toContain("select");
    const line = (await errorLines(shared())).at(-1);
    const request_id = response.headers.get("x-request-id");
    expect(line).toMatchObject({ request_id, method: "GET", route: "/todos" });
    expect(JSON.stringify(line)).toContain("select hashed_password");
  },
);

test("an error that the router cannot handle returns 500 in the envelope and is logged", async () => {
  thrown = () => undefined;
  // Not compared with the OpenAPI document, because this response lacks the usual headers.
  const response = await fetch(`${shared().url}/todos`);
  expect([response.status, await response.text()]).toEqual([500, INTERNAL_ERROR]);
  expect(shared().log.at(-1)).toMatchObject({ msg: "request failed outside the router" });
});

test("the cause of a 503 is logged, the causes of 4xx responses are not", async () => {
  await using service = await startService();
  for (const path of ["/auth/me", "/nowhere", "/todos?limit=0"]) await service.request(path);
  expect(await errorLines(service)).toEqual([]);
  await service.database.close();
  const response = await service.call("GET", "/todos");
  expect(response.status).toBe(503);
  expect(response.body).toEqual({ detail: "The database is unavailable", code: "DATABASE_UNAVAILABLE" });
  expect(await errorLines(service)).toMatchObject([
    { request_id: response.headers.get("x-request-id"), err: { type: "DatabaseUnavailable" } },
  ]);
});
