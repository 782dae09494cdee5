/** Describes operations for the OpenAPI document. Their error responses are derived from the error table. */
import type { ErrorCode } from "@latchkey/contracts";
import type { DocumentDecoration } from "elysia";
import type Type from "typebox";
import { ERROR_TABLE, type ErrorProperties, errorResponseFor } from "../errors.ts";
import type { HeaderName, Tag } from "./document.ts";
import { mapMembers, type SchemaName } from "./schemas.ts";

interface OperationOptions {
  readonly summary: string;
  readonly description?: string;
  /** The query parameters, all optional. */
  readonly query?: Type.TObject;
  readonly success: ResponseOptions;
  /** A response that is neither a success nor an error of the table. */
  readonly unavailable?: ResponseOptions;
  /** In addition to those of middleware and, unless it is static, of the database. */
  readonly errors?: readonly ErrorCode[];
  /** The operation's own rate limit, one sentence for the description of its 429. */
  readonly rateLimit?: string;
  /** Uses no resource, so that it has neither `DATABASE_UNAVAILABLE` nor `INTERNAL_ERROR`. */
  readonly isStatic?: boolean;
  /** Requires a bearer token, so that it also returns every authentication error. */
  readonly isProtected?: boolean;
}

interface ResponseOptions {
  readonly status: number;
  readonly description: string;
  readonly schema?: SchemaName;
}

type Responses = NonNullable<DocumentDecoration["responses"]>;
type ResponseObject = Exclude<Responses[string], { $ref: string }>;
type MediaType = NonNullable<ResponseObject["content"]>[string];

const AUTHENTICATION_ERRORS: readonly ErrorCode[] = ["INVALID_TOKEN", "INACTIVE_USER", "USER_NOT_FOUND"];
const LIMIT_HEADERS: readonly HeaderName[] = ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"];

/** The values in the examples of error responses. */
const EXAMPLE: ErrorProperties = {
  issues: [
    { loc: ["body", "password"], msg: "must be at least 8 characters long", type: "string_too_short" },
  ],
  quota: "5 per 1 minute",
  retryAfterSeconds: 42,
};

/** By operation id. Operations tagged `Probes` have no rate limit and no errors of the table. */
export const describeOperations = <Id extends string>(
  tag: Tag,
  operations: Readonly<Record<Id, OperationOptions>>,
): Record<Id, DocumentDecoration> =>
  mapMembers(operations, (options: OperationOptions, id) => describeOperation(tag, id, options));

function describeOperation(tag: Tag, operationId: string, options: OperationOptions): DocumentDecoration {
  const {
    summary,
    description,
    query,
    success,
    unavailable,
    isStatic = false,
    isProtected = false,
  } = options;
  const isLimited = tag !== "Probes";
  const usesResources = isLimited && !isStatic;
  const codes = [...(isProtected ? AUTHENTICATION_ERRORS : []), ...(options.errors ?? [])];
  if (usesResources) codes.push("DATABASE_UNAVAILABLE");
  if (isLimited) codes.push("TOO_MANY_REQUESTS");
  if (usesResources) codes.push("INTERNAL_ERROR");
  const headers: readonly HeaderName[] = ["X-Request-ID", ...(isLimited ? LIMIT_HEADERS : [])];
  const responses: Responses = {};
  for (const { status, description, schema } of unavailable ? [success, unavailable] : [success]) {
    responses[status] = response(description, headers, schema && { schema: reference(schema) });
  }
  for (const [status, sharing] of Map.groupBy(codes, (code) => ERROR_TABLE[code].status)) {
    responses[status] = errorResponse(sharing, headers, status === 429 ? options.rateLimit : undefined);
  }
  return {
    operationId,
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

const response = (description: string, headers: readonly string[], json?: MediaType): ResponseObject => ({
  description,
  headers: Object.fromEntries(headers.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
  ...(json && { content: { "application/json": json } }),
});

const reference = (schema: SchemaName) => ({ $ref: `#/components/schemas/${schema}` });

/** For codes of one status: each is an example, named after its code. */
function errorResponse(codes: readonly ErrorCode[], headers: readonly HeaderName[], addition?: string) {
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
