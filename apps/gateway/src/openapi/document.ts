/** The OpenAPI document: the descriptions of the routes, completed with everything that the routes have in common. */
import {
  BODY_MAX_BYTES,
  JSON_MAX_DEPTH,
  JSON_MAX_MEMBERS,
  PAGE_SIZE_DEFAULT,
  PAGE_SIZE_MAX,
} from "@latchkey/contracts";
import { type AnyElysia, Elysia } from "elysia";
import type { AccountRules } from "../config.ts";
import { ERROR_CODES, ERROR_TABLE, type ErrorCode } from "../errors.ts";
import { mapMembers } from "../map-members.ts";
import { VERSION } from "../version.ts";
import { componentSchemas, type ErrorSchemas, type JsonObject, translate } from "./schemas.ts";

/** The operations by path and method, in the format of `@elysiajs/swagger`. Only the members that this file uses. */
type DescribedPaths = Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;

interface DescribedOperation {
  readonly parameters?: readonly JsonObject[];
  readonly requestBody?: { readonly content: Readonly<Record<string, unknown>> };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, DescribedBody>> }>
  >;
}

interface DescribedBody {
  readonly schema: { readonly $ref: string };
  /** Of an error: by code. */
  readonly examples?: Readonly<Partial<Record<ErrorCode, unknown>>>;
}

const JSON_TYPE = "application/json";

/** Returns the document of the routes as JSON. Imports the plugin here, because startup does not need the plugin. */
export async function createDocument(features: AnyElysia, rules: AccountRules): Promise<string> {
  const { swagger } = await import("@elysiajs/swagger");
  const specPath = "/openapi.json";
  // By default, the plugin omits paths with a dot.
  const described = new Elysia().use(features).use(swagger({ specPath, excludeStaticFile: false }));
  const response = await described.handle(new Request(`http://localhost${specPath}`));
  const { paths } = (await response.json()) as { readonly paths: DescribedPaths };
  return JSON.stringify(completeDocument(paths, rules));
}

function completeDocument(paths: DescribedPaths, rules: AccountRules): JsonObject {
  const described = JSON.stringify(paths);
  const codes = ERROR_CODES.filter(
    (code) => !ERROR_TABLE[code].isOptional || described.includes(`"${code}"`),
  );
  const isDescribed = (tag: string): boolean => described.includes(`"tags":["${tag}"]`);
  const hasTodos = isDescribed("Todos");
  return {
    openapi: "3.0.3",
    info: {
      title: "Latchkey",
      version: VERSION,
      description: descriptionOf(hasTodos),
      license: { name: "MIT", url: "https://opensource.org/license/mit" },
    },
    servers: [{ url: ".", description: SERVER }],
    tags: [
      ...Object.entries(TAGS)
        .filter(([name]) => isDescribed(name))
        .map(([name, description]) => ({ name, description })),
      // The reference shows tags without operations as sections of text.
      ...Object.entries(topics(codes, hasTodos)).map(([name, description]) => ({
        name,
        description,
        "x-traitTag": true,
      })),
    ],
    paths: mapMembers(paths, (operations) => mapMembers(operations, completeOperation)),
    components: {
      schemas: componentSchemas(described, errorSchemasOf(paths), rules),
      headers: HEADERS,
      securitySchemes: {
        bearer: {
          type: "http",
          scheme: "bearer",
          bearerFormat: "JWT",
          description: "The `access_token` of `POST /auth/login`.",
        },
      },
    },
  };
}

/** Relative, because a proxy can remove a prefix that the service does not know. */
const SERVER =
  "The URL of this document without `/openapi.json`. Enter it as the base URL of generated clients, and as `baseUrl` in Postman.";

/** Returns the codes of the errors of each operation and status. The schema for issues is not derived from codes. */
function errorSchemasOf(paths: DescribedPaths): ErrorSchemas {
  const operations = Object.values(paths).flatMap((byMethod) => Object.values(byMethod));
  const responses = operations.flatMap(({ responses }) => Object.values(responses));
  const entries = responses.flatMap(({ content }) => {
    const { schema, examples = {} } = content?.[JSON_TYPE] ?? {};
    const codes = ERROR_CODES.filter((code) => code in examples && code !== "INVALID_REQUEST");
    return schema && codes.length > 0 ? [[schema.$ref.replace(/^.*\//, ""), codes] as const] : [];
  });
  return Object.fromEntries(entries);
}

const TAGS = {
  Auth: "Register, log in, and read, change or delete the current user.",
  Keys: "Public keys, with which other services verify tokens. They require no token.",
  Todos: "A todo list with cursor pagination. It requires no token.",
  Probes: "For supervisors and load balancers. They are not rate-limited.",
};
export type Tag = keyof typeof TAGS;

const descriptionOf = (hasTodos: boolean) => `User accounts with bearer-token login, ${
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

const text = (example: string) => ({ schema: { type: "string" }, example });
const count = (example: number) => ({ schema: { type: "integer", minimum: 0 }, example });

const HEADERS = {
  "X-Request-ID": {
    description:
      "Identifies the request in the service's log: the value that the client sent if it is valid, otherwise a UUIDv7.",
    required: true,
    schema: { type: "string", pattern: "^[A-Za-z0-9._-]{1,128}$" },
    example: "0199d3f2-8a4e-7c31-9a55-3f0f0a7be5d2",
  },
  "WWW-Authenticate": {
    description: "The required authentication scheme (RFC 9110 §11.6.1).",
    required: true,
    ...text("Bearer"),
  },
  "Retry-After": { description: "Seconds to wait before a retry (RFC 9110 §10.2.3).", ...count(42) },
  "RateLimit-Limit": {
    description:
      "Requests per window of the operation's own limit if it counted the request, otherwise of the default limit. Absent from probes, and if rate limits are disabled.",
    ...count(6000),
  },
  "RateLimit-Remaining": { description: "Remaining requests in this window.", ...count(5999) },
  "RateLimit-Reset": { description: "Seconds until this window ends.", ...count(42) },
} satisfies Record<string, JsonObject>;
export type HeaderName = keyof typeof HEADERS;

const headerItems = Object.entries(HEADERS).map(([name, { description }]) => `- \`${name}\`: ${description}`);

const PAGES = `A page has at most \`limit\` items: ${PAGE_SIZE_DEFAULT} by default, up to ${PAGE_SIZE_MAX}. To get the next page, send
\`next_cursor\` unchanged as \`cursor\`. On the last page it is \`null\`.`;

const topics = (codes: readonly ErrorCode[], hasTodos: boolean): Readonly<Record<string, string>> => ({
  Requests: `Bodies are JSON in UTF-8, sent as \`${JSON_TYPE}\` without compression (otherwise 422, not 415), at most ${BODY_MAX_BYTES / 1024} KiB, nested at most
${JSON_MAX_DEPTH} levels deep, with at most ${JSON_MAX_MEMBERS} members per object. Members that are not listed are
ignored. Lengths count Unicode code points; U+0000 and lone surrogates are rejected in every text. Responses are sent as
\`${JSON_TYPE};charset=utf-8\`.`,

  ...(hasTodos && { Pages: PAGES }),

  Headers: `Responses have these headers, in addition to those of HTTP, CORS and security. The document lists them for each
response; the pages describe them only here.

${headerItems.join("\n")}`,

  Errors: `Every error is an object with two members. \`detail\` is a sentence, or for 422 a list of issues, which never
contain submitted values. \`code\` identifies the error: codes are never renamed, but later versions can add codes. Only
\`USER_ALREADY_EXISTS\` has a third member: \`field\`, the name of the taken one. The examples of each operation are named
after its codes. An unknown path returns 404, a known path with an unsupported method 405 with an \`Allow\` header, a body
that is too large 413, also on paths that need no body, and an \`Expect\` header other than \`100-continue\` 417. A proxy in
front of the service can respond with other codes, such as \`BAD_GATEWAY\`.

${errorItems(codes).join("\n")}`,
});

/** The plugin lists every content type that the framework can parse; this service accepts JSON only. */
function completeOperation(operation: DescribedOperation): JsonObject {
  const { parameters = [], requestBody, ...rest } = operation;
  return {
    ...rest,
    ...(parameters.length > 0 && { parameters: parameters.map(translate) }),
    ...(requestBody && {
      requestBody: { ...requestBody, content: { [JSON_TYPE]: translate(requestBody.content[JSON_TYPE]) } },
    }),
  };
}
