/** Describes an operation for the OpenAPI document. Its error responses are derived from the error table. */
import type { ErrorCode } from "@latchkey/contracts";
import type { DocumentDecoration } from "elysia";
import type Type from "typebox";
import { ERROR_TABLE, type ErrorProperties, errorResponseFor } from "../errors.ts";
import type { HeaderName, Tag } from "./document.ts";
import type { SchemaName } from "./schemas.ts";

interface OperationOptions {
  readonly id: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly description?: string;
  /** The query parameters, all optional. */
  readonly query?: Type.TObject;
  readonly success: { readonly status: number; readonly description: string; readonly schema?: SchemaName };
  /** In addition to those of middleware. Operations tagged `Probes` have no rate limit and no `INTERNAL_ERROR`. */
  readonly errors: readonly ErrorCode[];
  /** The operation's own rate limit, one sentence for the description of its 429. */
  readonly rateLimit?: string;
  /** Uses no resource, so that it has no `INTERNAL_ERROR`. */
  readonly isStatic?: boolean;
  /** Requires a bearer token, so that it also returns every authentication error. */
  readonly isProtected?: boolean;
}

type Responses = NonNullable<DocumentDecoration["responses"]>;
type ResponseObject = Exclude<Responses[string], { $ref: string }>;
type MediaType = NonNullable<ResponseObject["content"]>[string];

const AUTHENTICATION_ERRORS: readonly ErrorCode[] = ["INVALID_TOKEN", "INACTIVE_USER", "USER_NOT_FOUND"];
const COMMON_HEADERS: readonly HeaderName[] = ["X-Request-ID"];
const LIMIT_HEADERS: readonly HeaderName[] = ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"];

/** The values in the examples of error responses. */
const EXAMPLE: ErrorProperties = {
  issues: [
    { loc: ["body", "password"], msg: "must be at least 8 characters long", type: "string_too_short" },
  ],
  quota: "5 per 1 minute",
  retryAfterSeconds: 42,
};

export function operation(options: OperationOptions): DocumentDecoration {
  const { id, tag, summary, description, query, success, isStatic = false, isProtected = false } = options;
  const isLimited = tag !== "Probes";
  const codes = new Set<ErrorCode>([
    ...(isProtected ? AUTHENTICATION_ERRORS : []),
    ...options.errors,
    ...(isLimited ? (["TOO_MANY_REQUESTS"] as const) : []),
    ...(isLimited && !isStatic ? (["INTERNAL_ERROR"] as const) : []),
  ]);
  const headers = isLimited ? [...COMMON_HEADERS, ...LIMIT_HEADERS] : COMMON_HEADERS;
  const responses: Responses = {
    [success.status]: response(
      success.description,
      headers,
      success.schema && { schema: reference(success.schema) },
    ),
  };
  for (const status of new Set([...codes].map((code) => ERROR_TABLE[code].status))) {
    const sharing = [...codes].filter((code) => ERROR_TABLE[code].status === status);
    responses[status] = errorResponse(sharing, headers, status === 429 ? options.rateLimit : undefined);
  }
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    ...(query && { parameters: Object.entries(query.properties).map(queryParameter) }),
    security: isProtected ? [{ bearer: [] }] : [],
    responses,
  };
}

const queryParameter = ([name, { description, ...schema }]: [
  string,
  Type.TSchema & { description?: string },
]) => ({
  in: "query" as const,
  name,
  required: false,
  ...(description !== undefined && { description }),
  schema,
});

export function response(description: string, headers: readonly string[], json?: MediaType): ResponseObject {
  return {
    description,
    headers: Object.fromEntries(headers.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    ...(json && { content: { "application/json": json } }),
  };
}

export const reference = (schema: SchemaName) => ({ $ref: `#/components/schemas/${schema}` });

/** For codes of one status: each is an example, named after its code. */
function errorResponse(
  codes: readonly ErrorCode[],
  headers: readonly HeaderName[],
  addition: string | undefined,
): ResponseObject {
  const examples = codes.map((code) => ({ code, ...errorResponseFor(code, EXAMPLE) }));
  return response(
    [...codes.map((code) => ERROR_TABLE[code].description), ...(addition ? [addition] : [])].join(" "),
    [...new Set([...headers, ...examples.flatMap((example) => Object.keys(example.headers))])],
    {
      schema: codes.includes("INVALID_REQUEST") ? reference("ValidationErrorResponse") : errorSchema(codes),
      examples: Object.fromEntries(examples.map(({ code, body }) => [code, { value: body }])),
    },
  );
}

/** An error response with one of these codes. */
const errorSchema = (codes: readonly ErrorCode[]) => ({
  allOf: [
    reference("ErrorResponse"),
    {
      type: "object" as const,
      required: ["code"],
      properties: { code: { type: "string" as const, enum: [...codes] } },
    },
  ],
});
