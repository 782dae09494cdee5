/** Operations: the parser, the validators and the description of a route. Error responses are derived from `ERROR_TABLE`. */
import { parseVariables } from "@latchkey/config";
import type { ValidationIssue } from "@latchkey/contracts";
import type { Context, DocumentDecoration } from "elysia";
import type Type from "typebox";
import {
  ERROR_TABLE,
  type ErrorCode,
  type ErrorProperties,
  errorResponseFor,
  ServiceError,
} from "../errors.ts";
import { ignoreBody, jsonBody } from "../http/body.ts";
import { createCheck, type Location, type Refine, type Validator, validator } from "../http/validator.ts";
import { mapMembers } from "../map-members.ts";
import { ROUTE_LIMITS, type RouteLimit } from "../rate-limit/limits.ts";
import type { HeaderName, Tag } from "./document.ts";
import { errorSchemaName, nameOf, type SchemaName } from "./schemas.ts";

export interface OperationOptions {
  readonly summary: string;
  readonly description: string;
  /** Parameters in the path. An invalid parameter returns `INVALID_REQUEST`. */
  readonly params?: Type.TObject;
  /** All parameters are optional. The route reads the query with `queryValidator`. */
  readonly query?: Type.TObject;
  readonly body?: Type.TObject;
  readonly refineBody?: Refine<Type.TObject>;
  readonly success: ResponseOptions;
  /** A response that is neither a success nor an error of the table. */
  readonly unavailable?: ResponseOptions;
  /** The operation's own errors. `describeOperation` adds the errors of middleware and of the database. */
  readonly errors?: readonly ErrorCode[];
  /** The operation's own limit. */
  readonly rateLimit?: RouteLimit;
  /** The operation uses no resource, so it returns neither `DATABASE_UNAVAILABLE` nor `INTERNAL_ERROR`. */
  readonly isStatic?: boolean;
  /** The operation requires a bearer token, so it also returns every authentication error. */
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

/** Returns the quota that applies if the variable is not set, as the text that clients read. */
const defaultQuota = ({ variable }: RouteLimit): string =>
  parseVariables([variable], {}, { readFile: String })[variable].text;

/** The part of a route that its operation determines. */
type RouteOptions<Options extends OperationOptions> = { detail: DocumentDecoration } & {
  [Name in keyof Options & ("body" | "params")]: Validator<Extract<Options[Name], Type.TObject>>;
};

/**
 * Returns the options of routes by operation id. Operations tagged `Probes` have no rate limit and return no error except
 * `PAYLOAD_TOO_LARGE`. The cast is safe because the validators are created from the schemas in `operations`.
 */
export const defineOperations = <const Operations extends Readonly<Record<string, OperationOptions>>>(
  tag: Tag,
  operations: Operations,
) =>
  mapMembers<string, OperationOptions, unknown>(operations, (options, id) => ({
    ...(options.body && {
      body: validator(options.body, "body", nameOf(options.body), options.refineBody),
    }),
    ...(options.params && { params: validator(options.params, "path") }),
    // Probes and keys have no parser, because a parser would make their handlers asynchronous.
    ...(!["Probes", "Keys"].includes(tag) && { parse: [options.body ? jsonBody(options.body) : ignoreBody] }),
    ...(options.success.status !== 200 && { afterHandle: setStatus(options.success.status) }),
    detail: describeOperation(tag, id, options),
  })) as { readonly [Id in keyof Operations]: RouteOptions<Operations[Id]> };

/** Returns a hook that sets the status of a handler's result. A rate limit rejects with a `Response`, which keeps its status. */
const setStatus =
  (status: number) =>
  ({ set }: Pick<Context, "set">): void => {
    set.status = status;
  };

function describeOperation(tag: Tag, operationId: string, options: OperationOptions): DocumentDecoration {
  const { summary, description, params, query, body, rateLimit } = options;
  const { success, unavailable, isStatic, isProtected } = options;
  const isLimited = tag !== "Probes";
  const usesResources = isLimited && !isStatic;
  const codes = [...(isProtected ? AUTHENTICATION_ERRORS : []), ...(options.errors ?? [])];
  if (params || query || body) codes.push("INVALID_REQUEST");
  // `Content-Length` is checked for every request, even if the operation has no body.
  codes.push("PAYLOAD_TOO_LARGE");
  if (usesResources) codes.push("DATABASE_UNAVAILABLE");
  if (isLimited) codes.push("TOO_MANY_REQUESTS");
  if (usesResources) codes.push("INTERNAL_ERROR");
  const headers: readonly HeaderName[] = ["X-Request-ID", ...(isLimited ? LIMIT_HEADERS : [])];
  const quota = defaultQuota(rateLimit ?? ROUTE_LIMITS.default);
  /** The values in the examples of error responses. */
  const field = body && "username" in body.properties && !("email" in body.properties) ? "username" : "email";
  const example: ErrorProperties = { issues: exampleIssues(options), quota, retryAfterSeconds: 42, field };
  const responses: Responses = {};
  for (const { status, description, schema } of unavailable ? [success, unavailable] : [success]) {
    responses[status] = response(description, headers, schema && { schema: reference(schema) });
  }
  const additions: Readonly<Record<number, string | undefined>> = {
    422: body && "A body that is not sent as JSON is an issue, too: no operation returns 415.",
    429: rateLimit?.description?.replace("{quota}", quota),
  };
  for (const [status, sharing] of Map.groupBy(codes, (code) => ERROR_TABLE[code].status)) {
    const schema = status === 422 ? "ValidationErrorResponse" : errorSchemaName(operationId, status, sharing);
    responses[status] = errorResponse(sharing, schema, headers, example, additions[status]);
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

/**
 * Returns the issues of a request in which every member has the value `x`. If `x` is valid for every member, the value is 1
 * instead, or U+0000 in a path. With path parameters, all issues are in the path, because the router validates the path first.
 */
function exampleIssues({ params, query, body }: OperationOptions): Issues {
  if (params) return issuesOf(params, "path");
  if (query) return issuesOf(query, "query");
  return body ? issuesOf(body, "body") : [];
}

function issuesOf(schema: Type.TObject, location: Location): Issues {
  try {
    for (const value of ["x", location === "path" ? "\0" : 1])
      createCheck(schema, location)(mapMembers(schema.properties, () => value));
  } catch (error) {
    if (error instanceof ServiceError && error.properties.issues) return error.properties.issues;
    throw error;
  }
  throw new TypeError(`A text and a number are valid for every member of the ${location}`);
}

type Parameter = Type.TSchema & { description?: string; examples?: readonly unknown[] };

const queryParameter = ([name, { description, examples, ...schema }]: [string, Parameter]) => ({
  in: "query" as const,
  name,
  required: false,
  ...(description !== undefined && { description }),
  ...(examples && { example: examples[0] }),
  schema,
});

const response = (description: string, headers: readonly string[], json?: MediaType): ResponseObject => ({
  description,
  headers: Object.fromEntries(headers.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
  ...(json && { content: { "application/json": json } }),
});

const reference = (schema: string) => ({ $ref: `#/components/schemas/${schema}` });

/**
 * Describes the errors with one status. Each code has an example with the same name.
 * @param schema the name of the schema
 * @param addition the last sentences of the description
 */
function errorResponse(
  codes: readonly ErrorCode[],
  schema: string,
  headers: readonly HeaderName[],
  example: ErrorProperties,
  addition: string | undefined,
) {
  const examples = codes.map((code) => ({ code, ...errorResponseFor(code, example) }));
  return response(
    [...codes.map((code) => ERROR_TABLE[code].description), addition ?? []].flat().join(" "),
    [...new Set([...headers, ...examples.flatMap(({ headers }) => Object.keys(headers))])],
    {
      schema: reference(schema),
      examples: Object.fromEntries(examples.map(({ code, body }) => [code, { value: body }])),
    },
  );
}
