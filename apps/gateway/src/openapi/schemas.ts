/**
 * Translates the wire contracts from JSON Schema to the schemas of OpenAPI 3.0.3, which are a dialect of JSON Schema. No other
 * file translates schemas.
 */
import { STATUS_CODES } from "node:http";
import * as contracts from "@latchkey/contracts";
import { ERROR_TABLE, type ErrorCode } from "../errors.ts";
import type { Operation } from "../http/operation.ts";
import { mapMembers } from "../map-members.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

/** Every schema with a name, in the order of the documents. Generated clients name their types after them. */
const SCHEMAS: Readonly<Record<string, object>> = {
  ...contracts.USER_REQUESTS,
  ...contracts.TODO_REQUESTS,
  ...contracts.USER_RESPONSES,
  ...contracts.TODO_RESPONSES,
  ...contracts.KEY_RESPONSES,
  ...contracts.PROBE_RESPONSES,
  ...contracts.ADMIN_SCHEMAS,
  ...contracts.EVENT_SCHEMAS,
  ...contracts.VALIDATION_ERRORS,
  ...contracts.OPTIONAL_USER_REQUESTS,
  ...contracts.PASSKEY_SCHEMAS,
  ...contracts.LOGIN_SCHEMAS,
  ...contracts.FACTOR_SCHEMAS,
  ...contracts.HOSTED_LOGIN_SCHEMAS,
};
const NAMES = new Map(Object.entries(SCHEMAS).map(([name, schema]) => [schema, name]));

/** Returns the name of a schema in `components`. A schema that depends on the configuration has its name as `$id`. */
const nameOf = (schema: object): string | undefined =>
  "$id" in schema && typeof schema.$id === "string" ? schema.$id : NAMES.get(schema);

/** @throws if the schema has no name */
export function reference(schema: object | string): JsonObject {
  const name = typeof schema === "string" ? schema : nameOf(schema);
  if (name === undefined) throw new TypeError("A body or response has no name in packages/contracts");
  return { $ref: `#/components/schemas/${name}` };
}

/**
 * Returns the name of the schema for the errors of an operation with one status. It is the name of the code, such as
 * `UserNotFoundError`, or if there are several codes, that of the operation and the status, such as `UpdateMeForbiddenError`.
 */
export function errorSchemaName(
  operationId: string,
  status: number,
  { codes, hasOAuthError }: ErrorSchema,
): string {
  const [code = "", ...others] = codes;
  const words =
    others.length > 0 || hasOAuthError ? [operationId, STATUS_CODES[status] ?? ""] : [code.toLowerCase()];
  const name = words.join(" ").replaceAll(/(?:^|[\W_]+)(\w)/g, (_, first: string) => first.toUpperCase());
  return name.replace(/(Error)?$/, "Error");
}

/** The errors of an operation with one status. */
export interface ErrorSchema {
  readonly codes: readonly ErrorCode[];
  /** Whether the body also has the error in the words of OAuth. */
  readonly hasOAuthError: boolean;
}

function errorSchema({ codes, hasOAuthError }: ErrorSchema): JsonObject {
  const { code, ...others } = contracts.ErrorBody.properties;
  const field = codes.some((name) => ERROR_TABLE[name].hasField) && { field: contracts.TakenField };
  const state = codes.some((name) => ERROR_TABLE[name].hasState) && { state: contracts.FactorState };
  const error = hasOAuthError && { error: contracts.OAuthErrorMember };
  const properties = { ...others, code: { ...code, enum: codes }, ...field, ...state, ...error };
  return { ...contracts.ErrorBody, properties };
}

/**
 * Returns `components.schemas`: the schemas of the operations, and the schemas to which these refer.
 * @param errors those that the operations return, by the name of their schema
 */
export function componentSchemas(
  operations: readonly Pick<Operation<unknown>, "body" | "success" | "unavailable">[],
  errors: Readonly<Record<string, ErrorSchema>>,
): Record<string, JsonObject> {
  const used: Record<string, object> = {};
  const use = (part: unknown): void => {
    if (!isJsonObject(part)) return;
    const name = nameOf(part);
    if (name !== undefined && name in used) return;
    if (name !== undefined) used[name] = part;
    Object.values(part).forEach(use);
  };
  use(operations.map(({ body, success, unavailable }) => [body, success.schema, unavailable?.schema]));
  use(contracts.VALIDATION_ERRORS);
  const schemas = Object.entries({ ...SCHEMAS, ...used }).filter(([name]) => name in used);
  return mapMembers({ ...Object.fromEntries(schemas), ...mapMembers(errors, errorSchema) }, translateMembers);
}

/** Translates a schema or any part of one. */
export function translate(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(translate);
  if (!isJsonObject(part)) return part;
  const name = nameOf(part);
  return name === undefined ? translateMembers(part) : reference(name);
}

/** Replaces or removes the JSON Schema keywords that 3.0.3 does not have. */
function translateMembers(schema: object): JsonObject {
  const { $id, dependentRequired, propertyNames, ...others } = schema as JsonObject;
  const { const: constant, examples, anyOf, pattern, ...rest } = others;
  return {
    // The description of the member replaces that of its only shape.
    ...(Array.isArray(anyOf) && translateUnion(anyOf)),
    ...mapMembers(rest, translate),
    // Generators give a member without a type any value.
    ...(isTextEnum(rest) && { type: "string", ...(isNullable(rest) && { nullable: true }) }),
    ...(constant !== undefined && { enum: [constant] }),
    ...(Array.isArray(examples) && { example: examples[0] }),
    ...(typeof pattern === "string" && { pattern: withoutSurrogates(pattern) }),
    ...(isLong(rest) && { format: "int64" }),
  };
}

/** OpenAPI 3.0.3 has the keyword `nullable` in place of the type `null`. */
function translateUnion(members: readonly unknown[]): JsonObject {
  const others = members.filter((member) => !(isJsonObject(member) && member.type === "null"));
  const [only] = others;
  const union =
    others.length === 1 && isJsonObject(only) ? translateMembers(only) : { anyOf: others.map(translate) };
  return others.length === members.length ? union : { ...union, nullable: true };
}

/**
 * Removes the exclusion of surrogates. Clients that match UTF-16 units would otherwise reject every emoji. Few clients need
 * the exclusion, because JSON in UTF-8 can contain a lone surrogate only as an escape sequence.
 */
const withoutSurrogates = (pattern: string): string => pattern.replaceAll("\\uD800-\\uDFFF", "");

const isTextEnum = ({ enum: values }: JsonObject): boolean =>
  Array.isArray(values) && values.every((value) => value === null || typeof value === "string");

/** The list of values must also contain null (OpenAPI 3.0.3, proposal of clarification). */
const isNullable = ({ enum: values }: JsonObject): boolean => Array.isArray(values) && values.includes(null);

const isLong = ({ type, maximum }: JsonObject): boolean =>
  type === "integer" && typeof maximum === "number" && maximum > 2 ** 31;

const isJsonObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null;
