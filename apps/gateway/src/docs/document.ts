/** The OpenAPI document: what the routes say of themselves, completed with what holds for all of them. */
import { BODY_MAX_BYTES, JSON_MAX_DEPTH, PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX } from "@latchkey/contracts";
import { ERROR_TABLE } from "../errors.ts";
import { VERSION } from "../version.ts";
import type { HeaderName, Tag } from "./operation.ts";
import { componentSchemas, type JsonObject, translate } from "./schemas.ts";

/** What the routes' own description holds, as far as it is used here. */
export interface DescribedRoutes {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonObject>> };
}

interface DescribedOperation {
  readonly parameters?: readonly JsonObject[];
  readonly requestBody?: { readonly content: Readonly<Record<string, unknown>> };
}

const JSON_TYPE = "application/json";

export function completeDocument({ paths, components }: DescribedRoutes): JsonObject {
  return {
    openapi: "3.0.3",
    info: {
      title: "Latchkey",
      version: VERSION,
      description: DESCRIPTION,
      license: { name: "MIT", url: "https://opensource.org/license/mit" },
    },
    servers: [{ url: "/", description: "This service." }],
    tags: [
      ...Object.entries(TAGS).map(([name, description]) => ({ name, description })),
      // Sections of the reference: tags that no operation has.
      ...Object.entries(TOPICS).map(([name, description]) => ({ name, description, "x-traitTag": true })),
    ],
    paths: mapMembers(paths, (operations) => mapMembers(operations, completeOperation)),
    components: {
      schemas: componentSchemas(components.schemas),
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

const TAGS: Readonly<Record<Tag, string>> = {
  Auth: "Accounts: register, log in, and read, change or delete the account of the token.",
  Todos: "A todo list without accounts, listed by cursor.",
  Probes: "For supervisors and load balancers. No limit counts them.",
};

const DESCRIPTION = `User accounts with bearer-token login, health probes, and a todo list paged by cursor.

Register, log in, and send the token as \`Authorization: Bearer <token>\`; the explorer takes it under *Authorize*.

Three views of one document: [/docs](/docs) to try it, [/redoc](/redoc) to read it, with what holds for every
operation, and [/openapi.json](/openapi.json) for machines.`;

const unexpected = {
  code: "",
  status: 500,
  description: "Something unexpected, told to nobody but the log.",
};
const errorRows = Object.entries(ERROR_TABLE)
  .map(([code, { status, description }]) => ({ code: `\`${code}\``, status, description }))
  .concat(unexpected)
  .sort((one, other) => one.status - other.status)
  .map(({ code, status, description }) => `| ${status} | ${code} | ${description} |`);

const TOPICS = {
  Requests: `Bodies are JSON in UTF-8, sent as \`${JSON_TYPE}\`, at most ${BODY_MAX_BYTES / 1024} KiB, nested at most
${JSON_MAX_DEPTH} levels deep. Members that are
not listed are ignored. Lengths count Unicode code points; U+0000 and lone surrogates are refused in any text.`,

  Pages: `A page has at most ${PAGE_SIZE_MAX} items, ${PAGE_SIZE_DEFAULT} unless \`limit\` asks otherwise. Send
\`next_cursor\` back, unchanged, as \`cursor\` for the page after it; the last page has \`null\`.`,

  Errors: `Every error is an object with a \`detail\`: a sentence, or for 422 a list of what is wrong where, which never
repeats a value that was sent. A code names its example under each operation. Any path may answer 404 and 405, the latter
with an \`Allow\` header.

| Status | Code | When |
|---|---|---|
${errorRows.join("\n")}`,
};

const text = (example: string) => ({ schema: { type: "string" }, example });
const count = (example: number) => ({ schema: { type: "integer", minimum: 0 }, example });

const HEADERS: Readonly<Record<HeaderName, JsonObject>> = {
  "X-Request-ID": {
    description:
      "Names the request in the service's log: the client's own if it sent a well-formed one, else a UUIDv7.",
    required: true,
    schema: { type: "string", pattern: "^[A-Za-z0-9._-]{1,128}$" },
    example: "0199d3f2-8a4e-7c31-9a55-3f0f0a7be5d2",
  },
  "WWW-Authenticate": {
    description: "The scheme that is asked for (RFC 9110 §11.6.1).",
    required: true,
    ...text("Bearer"),
  },
  "Retry-After": { description: "Seconds until a retry makes sense (RFC 9110 §10.2.3).", ...count(42) },
  "RateLimit-Limit": { description: "Requests in a window. Absent where limits are off.", ...count(6000) },
  "RateLimit-Remaining": { description: "Requests left in this window.", ...count(5999) },
  "RateLimit-Reset": { description: "Seconds until this window ends.", ...count(42) },
};

/** Whatever readers the framework has, this service reads bodies as JSON alone. */
function completeOperation(operation: DescribedOperation): JsonObject {
  const { parameters = [], requestBody, ...rest } = operation;
  return {
    ...rest,
    ...(parameters.length > 0 && { parameters: parameters.map(translate) }),
    ...(requestBody && {
      requestBody: { ...requestBody, content: { [JSON_TYPE]: requestBody.content[JSON_TYPE] } },
    }),
  };
}

const mapMembers = <Value, Mapped>(
  members: Readonly<Record<string, Value>>,
  map: (value: Value) => Mapped,
): Record<string, Mapped> =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [name, map(value)]));
