/** Describes operations for the OpenAPI document. Their error responses are derived from the error table. */
import { parseVariables, type VariableName } from "@latchkey/config";
import type { ErrorCode, ValidationIssue } from "@latchkey/contracts";
import type { DocumentDecoration } from "elysia";
import type Type from "typebox";
import { ERROR_TABLE, type ErrorProperties, errorResponseFor, ServiceError } from "../errors.ts";
import { type ValidatorOptions, validator } from "../http/validator.ts";
import { mapMembers } from "../map-members.ts";
import type { HeaderName, Tag } from "./document.ts";
import { errorSchemaName, type SchemaName } from "./schemas.ts";

interface OperationOptions {
  readonly summary: string;
  readonly description: string;
  /** What the route validates, so that the operation also returns `INVALID_REQUEST`. */
  readonly path?: Type.TObject;
  /** All parameters are optional. */
  readonly query?: Type.TObject;
  readonly body?: Type.TObject;
  readonly success: ResponseOptions;
  /** A response that is neither a success nor an error of the table. */
  readonly unavailable?: ResponseOptions;
  /** In addition to those of middleware and, unless it is static, of the database. */
  readonly errors?: readonly ErrorCode[];
  /** The operation's own rate limit: its variable, and sentences about the default quota for the description of its 429. */
  readonly rateLimit?: { readonly variable: QuotaName; readonly describe: (quota: string) => string };
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

type QuotaName = Exclude<Extract<VariableName, `RATE_LIMIT_${string}`>, "RATE_LIMIT_ENABLED">;

/** The quota that applies if the variable is not set, as clients read it. */
const defaultQuota = (variable: QuotaName): string =>
  parseVariables([variable], {}, { readFile: String })[variable].text;

/** By operation id. Operations tagged `Probes` have no rate limit, and no error other than `PAYLOAD_TOO_LARGE`. */
export const describeOperations = <Id extends string>(
  tag: Tag,
  operations: Readonly<Record<Id, OperationOptions>>,
): Record<Id, DocumentDecoration> =>
  mapMembers(operations, (options: OperationOptions, id) => describeOperation(tag, id, options));

function describeOperation(tag: Tag, operationId: string, options: OperationOptions): DocumentDecoration {
  const {
    summary,
    description,
    path,
    query,
    body,
    rateLimit,
    success,
    unavailable,
    isStatic = false,
    isProtected = false,
  } = options;
  const isLimited = tag !== "Probes";
  const usesResources = isLimited && !isStatic;
  const codes = [...(isProtected ? AUTHENTICATION_ERRORS : []), ...(options.errors ?? [])];
  if (path || query || body) codes.push("INVALID_REQUEST");
  // The announced length is checked on every path, also if the operation has no body.
  codes.push("PAYLOAD_TOO_LARGE");
  if (usesResources) codes.push("DATABASE_UNAVAILABLE");
  if (isLimited) codes.push("TOO_MANY_REQUESTS");
  if (usesResources) codes.push("INTERNAL_ERROR");
  const headers: readonly HeaderName[] = ["X-Request-ID", ...(isLimited ? LIMIT_HEADERS : [])];
  const quota = defaultQuota(rateLimit?.variable ?? "RATE_LIMIT_DEFAULT");
  /** The values in the examples of error responses. */
  const example: ErrorProperties = {
    issues: exampleIssues(options),
    quota,
    retryAfterSeconds: 42,
  };
  const responses: Responses = {};
  for (const { status, description, schema } of unavailable ? [success, unavailable] : [success]) {
    responses[status] = response(description, headers, schema && { schema: reference(schema) });
  }
  for (const [status, sharing] of Map.groupBy(codes, (code) => ERROR_TABLE[code].status)) {
    const addition = status === 429 ? rateLimit?.describe(quota) : undefined;
    responses[status] = errorResponse(status, sharing, { headers, example, addition });
  }
  return {
    operationId,
    tags: [tag],
    summary,
    description,
    ...(query && { parameters: Object.entries(query.properties).map(queryParameter) }),
    security: isProtected ? [{ bearer: [] }] : [],
    responses,
  };
}

type Issues = readonly ValidationIssue[];

/** What the service returns if every member is the text `x`, or a number if that is valid. The router validates a path before a body. */
function exampleIssues({ path, query, body }: OperationOptions): Issues {
  if (path) return issuesOf(path, "path");
  if (query) return issuesOf(query, "query");
  return body ? issuesOf(body, "body") : [];
}

function issuesOf(schema: Type.TObject, location: ValidatorOptions["in"]): Issues {
  try {
    for (const value of ["x", 1])
      validator(schema, { in: location })["~standard"].validate(mapMembers(schema.properties, () => value));
  } catch (error) {
    if (error instanceof ServiceError && error.properties.issues) return error.properties.issues;
    throw error;
  }
  throw new TypeError(`A text and a number are valid for every member of the ${location}`);
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

const reference = (schema: string) => ({ $ref: `#/components/schemas/${schema}` });

interface ErrorResponseOptions {
  readonly headers: readonly HeaderName[];
  readonly example: ErrorProperties;
  /** The last sentences of the description. */
  readonly addition?: string | undefined;
}

/** For codes of one status: each is an example, named after its code. */
function errorResponse(
  status: number,
  codes: readonly ErrorCode[],
  { headers, example, addition }: ErrorResponseOptions,
) {
  const examples = codes.map((code) => ({ code, ...errorResponseFor(code, example) }));
  return response(
    [...codes.map((code) => ERROR_TABLE[code].description), ...(addition ? [addition] : [])].join(" "),
    [...new Set([...headers, ...examples.flatMap(({ headers }) => Object.keys(headers))])],
    {
      schema: reference(status === 422 ? "ValidationErrorResponse" : errorSchemaName(status)),
      examples: Object.fromEntries(examples.map(({ code, body }) => [code, { value: body }])),
    },
  );
}
