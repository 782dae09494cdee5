/**
 * Describes an operation for the OpenAPI document. An operation lists its own errors. This file adds the errors of the steps
 * before the handler, of every login and of the database, and omits the errors of features that are off.
 */
import { parseVariables } from "@latchkey/config";
import { FACTOR_STATE_EXAMPLE } from "@latchkey/contracts";
import type Type from "typebox";
import {
  canOccur,
  ERROR_TABLE,
  type ErrorCode,
  type ErrorProperties,
  errorResponseFor,
  loginErrorsOf,
  withOAuthError,
} from "../errors.ts";
import type { Features } from "../feature-flags.ts";
import type { Operation } from "../http/operation.ts";
import { ROUTE_LIMITS, type RouteLimit } from "../rate-limit/limits.ts";
import { type ErrorSchema, errorSchemaName, type JsonObject, reference, translate } from "./schemas.ts";

export type DescribedOperation = Omit<Operation<unknown>, "handler">;

export interface DescriptionOptions {
  readonly features: Features;
  /** The errors of operations that require a token. */
  readonly authenticationErrors: readonly ErrorCode[];
}

const FORM_TYPE = "application/x-www-form-urlencoded";
export const JSON_TYPE = "application/json";
const LIMIT_HEADERS = ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"];

/** Returns the quota that applies if the variable is not set, as the text that clients read. */
const defaultQuota = ({ variable }: RouteLimit): string =>
  parseVariables([variable], {}, { readFile: String })[variable].text;

export function errorCodesOf(operation: DescribedOperation, options: DescriptionOptions): ErrorCode[] {
  const {
    requiresToken,
    loginMethod,
    isTwoFactor = false,
    errors = [],
    params,
    query,
    rejectsUnknownParameters,
    body,
    form,
    limit,
    isStatic,
    unavailable,
  } = operation;
  const usesResources = !isStatic && !unavailable;
  const codes: ErrorCode[] = [...(requiresToken ? options.authenticationErrors : []), ...errors];
  if (loginMethod) codes.push(...loginErrorsOf(isTwoFactor, options.features));
  if (params || query || (body && !form) || rejectsUnknownParameters) codes.push("INVALID_REQUEST");
  // `Content-Length` is checked for every request, even if the operation has no body.
  codes.push("PAYLOAD_TOO_LARGE");
  if (usesResources) codes.push("DATABASE_UNAVAILABLE");
  if (limit !== "none") codes.push("TOO_MANY_REQUESTS");
  if (usesResources) codes.push("INTERNAL_ERROR");
  return [...new Set(codes)].filter((code) => canOccur(code, options.features));
}

/** Returns the description, and the errors by the name of the schema to which it refers. */
export function describeOperation(operation: DescribedOperation, options: DescriptionOptions) {
  const { id, tag, summary, description, requiresToken, params, query, body, form } = operation;
  const { success, otherSuccess, unavailable, issues, limit } = operation;
  const isLimited = limit !== "none";
  const quotaOf = isLimited && limit ? ROUTE_LIMITS[limit.quota] : undefined;
  const quota = defaultQuota(quotaOf ?? ROUTE_LIMITS.default);
  const limitText = (isLimited && limit?.description) || quotaOf?.description;
  const headers = ["X-Request-ID", ...(isLimited ? LIMIT_HEADERS : [])];
  /** The values in the examples of error responses. */
  const field = body && "username" in body.properties && !("email" in body.properties) ? "username" : "email";
  const example: ErrorProperties = {
    ...(issues && { issues }),
    quota,
    retryAfterSeconds: 42,
    field,
    state: FACTOR_STATE_EXAMPLE,
  };
  const additions: Readonly<Record<number, string | undefined>> = {
    422: body && "A body that is not sent as JSON is an issue, too: no operation returns 415.",
    429: limitText?.replace("{quota}", quota),
  };
  const responses: Record<string, JsonObject> = {};
  for (const { status, description, schema } of [success, otherSuccess ?? [], unavailable ?? []].flat())
    responses[status] = response(description, headers, schema && { schema: reference(schema) });
  const errorSchemas: Record<string, ErrorSchema> = {};
  const byStatus = Map.groupBy(errorCodesOf(operation, options), (code) => ERROR_TABLE[code].status);
  for (const [status, codes] of [...byStatus].sort(([one], [other]) => one - other)) {
    const errors = { codes, hasOAuthError: form !== undefined && status < 500 };
    // The schema for issues is not derived from codes.
    const name = status === 422 ? "ValidationErrorResponse" : errorSchemaName(id, status, errors);
    if (status !== 422) errorSchemas[name] = errors;
    responses[status] = errorResponse(errors, reference(name), headers, example, additions[status]);
  }
  const parameters = [
    ...Object.entries(params?.properties ?? {}).map(pathParameter),
    ...Object.entries(query?.properties ?? {}).map(queryParameter),
  ];
  const detail = {
    operationId: id,
    tags: [tag],
    summary,
    description,
    security: requiresToken ? [{ bearer: [] }] : [],
    responses,
    ...(parameters.length > 0 && { parameters: parameters.map(translate) }),
    ...(body && {
      requestBody: {
        required: true,
        content: { [form ? FORM_TYPE : JSON_TYPE]: { schema: reference(body) } },
      },
    }),
  };
  return { detail, errorSchemas };
}

type Parameter = Type.TSchema & { type?: string; description?: string; examples?: readonly unknown[] };

const pathParameter = ([name, parameter]: [string, Parameter]): JsonObject => {
  const { type, description, examples, ...keywords } = parameter;
  return { description, examples, schema: { type, ...keywords }, in: "path", name, required: true };
};

const queryParameter = ([name, parameter]: [string, Parameter]): JsonObject => {
  const { description, examples, ...schema } = parameter;
  return {
    in: "query",
    name,
    required: false,
    ...(description !== undefined && { description }),
    ...(examples && { example: examples[0] }),
    schema,
  };
};

const response = (description: string, headers: readonly string[], json?: JsonObject): JsonObject => ({
  description,
  headers: Object.fromEntries(headers.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
  ...(json && { content: { [JSON_TYPE]: json } }),
});

/**
 * Describes the errors with one status. Each code has an example with the same name.
 * @param addition the last sentences of the description
 */
function errorResponse(
  { codes, hasOAuthError }: ErrorSchema,
  schema: JsonObject,
  headers: readonly string[],
  example: ErrorProperties,
  addition: string | undefined,
): JsonObject {
  const examples = codes.map((code) => {
    const response = errorResponseFor(code, example);
    return { code, ...response, body: hasOAuthError ? withOAuthError(response) : response.body };
  });
  return response(
    [...codes.map((code) => ERROR_TABLE[code].description), addition ?? []].flat().join(" "),
    [...new Set([...headers, ...examples.flatMap(({ headers }) => Object.keys(headers))])],
    { schema, examples: Object.fromEntries(examples.map(({ code, body }) => [code, { value: body }])) },
  );
}
