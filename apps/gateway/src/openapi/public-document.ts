/** The OpenAPI document of the public API: its texts. */
import * as contracts from "@latchkey/contracts";
import { ERROR_CODES, ERROR_TABLE, type ErrorCode, REQUEST_ERRORS } from "../errors.ts";
import type { Features } from "../feature-flags.ts";
import { enabledOperations } from "../http/operation.ts";
import { createDocument, HEADERS } from "./document.ts";
import { type DescribedOperation, errorCodesOf, JSON_TYPE } from "./operation.ts";

const TAGS = {
  Auth: "Register, log in, and read, change or delete the current user.",
  "Hosted login":
    "Applications send users to a page of this service, and exchange a code for a token: OAuth's authorization code with PKCE.",
  Keys: "Public keys, with which other services verify tokens. They require no token.",
  Todos: "A todo list with cursor pagination. It requires no token.",
  Probes: "For supervisors and load balancers. They are not rate-limited.",
};

export function createPublicDocument(
  operations: readonly DescribedOperation[],
  features: Features,
): Promise<string> {
  const authenticationErrors: readonly ErrorCode[] = [
    ...(["INVALID_TOKEN", "INACTIVE_USER", "USER_NOT_FOUND"] as const),
    // A user with a second factor, and a token whose login lacked it.
    ...(features.has("secondFactor") ? (["LOGIN_REQUIRED"] as const) : []),
  ];
  const codes = new Set<ErrorCode>(REQUEST_ERRORS);
  for (const operation of enabledOperations(operations, features))
    for (const code of errorCodesOf(operation, { features, authenticationErrors })) codes.add(code);
  return createDocument({
    operations,
    features,
    authenticationErrors,
    title: "Latchkey",
    description: describe(features.has("todos")),
    tags: TAGS,
    topics: topics(
      ERROR_CODES.filter((code) => codes.has(code)),
      features.has("todos"),
    ),
    bearer: {
      type: "http",
      scheme: "bearer",
      bearerFormat: "JWT",
      description: "The `access_token` of `POST /auth/login`.",
    },
  });
}

const describe = (hasTodos: boolean) => `User accounts with bearer-token login, ${
  hasTodos ? "health probes, and a todo list with cursor pagination" : "and health probes"
}.

Register, log in, and send the token as \`Authorization: Bearer <token>\`; in the explorer, enter it under *Authorize*.

The same document has three views: [/docs](docs) to call operations, [/redoc](redoc) to read about them, and
[/openapi.json](openapi.json) for tools.`;

const errorItems = (codes: readonly ErrorCode[]): string[] =>
  codes
    .map((code) => ({ code, ...ERROR_TABLE[code] }))
    .sort((one, other) => one.status - other.status)
    .map(({ code, status, description }) => `- ${status} \`${code}\`: ${description}`);

const headerItems = Object.entries(HEADERS).map(([name, { description }]) => `- \`${name}\`: ${description}`);

const PAGES = `A page has at most \`limit\` items: ${contracts.PAGE_SIZE_DEFAULT} by default, up to ${contracts.PAGE_SIZE_MAX}. To get the next page, send
\`next_cursor\` unchanged as \`cursor\`. On the last page it is \`null\`.`;

const topics = (codes: readonly ErrorCode[], hasTodos: boolean): Readonly<Record<string, string>> => ({
  Requests: `Bodies are JSON in UTF-8, sent as \`${JSON_TYPE}\` without compression (otherwise 422, not 415), at most ${contracts.BODY_MAX_BYTES / 1024} KiB, nested at most
${contracts.JSON_MAX_DEPTH} levels deep, with at most ${contracts.JSON_MAX_MEMBERS} members per object. Members that are not listed are
ignored. Lengths count Unicode code points; U+0000 and lone surrogates are rejected in every text. Responses are sent as
\`${JSON_TYPE};charset=utf-8\`.`,

  ...(hasTodos && { Pages: PAGES }),

  Headers: `Responses have these headers, in addition to those of HTTP, CORS and security. The document lists them for each
response; the pages describe them only here.

${headerItems.join("\n")}`,

  Errors: `Every error, except the 503 of \`/readyz\` and those of the HTTP server without a body (400, 413, 431, 505), is an object with two members. \`detail\` is a sentence, or for 422 a list of issues, which never
contain submitted values. \`code\` identifies the error: codes are never renamed, but later versions can add codes. Only
\`USER_ALREADY_EXISTS\` has a third member: \`field\`, the name of the taken one. The examples of each operation are named
after its codes. An unknown path returns 404, a known path with an unsupported method 405 with an \`Allow\` header, a body
that is too large 413, also on paths that need no body, and an \`Expect\` header other than \`100-continue\` 417. A proxy in
front of the service can respond with other codes, such as \`BAD_GATEWAY\`.

${errorItems(codes).join("\n")}`,
});
