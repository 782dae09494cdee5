/**
 * Checks a response against the document: the operation describes its status, all of its headers and its body. Responses
 * of no operation (other paths, other methods, preflights) have separate rules.
 */
import { Compile } from "typebox/schema";
import { ERROR_CODES } from "../../../src/errors.ts";
import type { ClientResponse } from "../client.ts";
import { type NamedOperation, type OpenApiDocument, operationsOf, type Schema } from "./document.ts";

export interface SentRequest {
  readonly method: string;
  /** With or without a query. */
  readonly path: string;
}

export type ReceivedResponse = Pick<ClientResponse, "status" | "headers" | "text">;

/** Returns the differences between the response and the document. */
export type Contract = (request: SentRequest, response: ReceivedResponse) => string[];

/** The documentation, which the document does not describe. */
const UNDOCUMENTED = /^\/(|openapi\.json|docs|redoc|docs\/assets\/.+)$/;
/** Headers that an operation must document. */
const DOCUMENTED_HEADERS = /^(x-request-id|ratelimit-.+|retry-after|www-authenticate|allow)$/;
const ERROR_RESPONSE = {
  type: "object",
  required: ["detail", "code"],
  properties: { detail: { type: "string" }, code: { enum: [...ERROR_CODES] } },
};

export function createContract(document: OpenApiDocument): Contract {
  const operations = operationsOf(document).map((operation) => ({
    operation,
    path: new RegExp(`^${operation.path.replaceAll(/\{\w+\}/g, "[^/]+")}$`),
  }));
  // The router prefers paths without parameters.
  operations.sort(
    (one, other) => Number(/{/.test(one.operation.path)) - Number(/{/.test(other.operation.path)),
  );
  const schemas = createSchemas(document);

  const checkFallback = (response: ReceivedResponse, status: number): string[] => [
    ...(response.status === status ? [] : [`status ${response.status} instead of ${status}`]),
    ...(status === 405 && !response.headers.has("allow") ? ["405 without Allow"] : []),
    ...schemas.errorsOf(ERROR_RESPONSE, response.text),
  ];

  const checkOperation = (
    { responses }: NamedOperation,
    { status, headers, text }: ReceivedResponse,
    isHead: boolean,
  ): string[] => {
    const response = responses[status];
    if (!response) return [`status ${status} is not documented: ${text}`];
    const errors: string[] = [];

    const documented = new Map(
      Object.entries(response.headers ?? {}).map(([name, { $ref }]) => [name, $ref]),
    );
    const documentedNames = new Set([...documented.keys()].map((name) => name.toLowerCase()));
    for (const name of headers.keys()) {
      if (DOCUMENTED_HEADERS.test(name) && !documentedNames.has(name))
        errors.push(`header ${name} is not documented`);
    }
    for (const [name, reference] of documented) {
      errors.push(
        ...schemas.headerErrors(reference, headers.get(name)).map((error) => `header ${name}: ${error}`),
      );
    }

    const [type, content] = Object.entries(response.content ?? {})[0] ?? [];
    if (isHead) return errors;
    if (content === undefined)
      return text === "" ? errors : [...errors, `a body where none is documented: ${text}`];
    if (headers.get("content-type")?.split(";")[0] !== type) {
      errors.push(`content type ${headers.get("content-type")} instead of ${type}`);
    }
    const code = status < 400 ? undefined : /"code":"(\w+)"/.exec(text)?.[1];
    if (code !== undefined && !(code in (content.examples ?? {}))) errors.push(`${code} is not an example`);
    return [...errors, ...schemas.errorsOf(content.schema, text)];
  };

  return ({ method, path: target }, response) => {
    const path = target.replace(/\?.*$/, "").replace(/(.)\/$/, "$1");
    const isHead = method === "HEAD";
    if (UNDOCUMENTED.test(path)) return [];
    const known = operations.filter((one) => one.path.test(path));
    const named = known.find(({ operation }) => operation.method === (isHead ? "GET" : method));
    if (named) return checkOperation(named.operation, response, isHead);
    if (response.status === 204 && method === "OPTIONS") return [];
    if (response.status === 413 || response.status === 429) return checkFallback(response, response.status);
    return isHead ? [] : checkFallback(response, known.length > 0 ? 405 : 404);
  };
}

/** The document's schemas, compiled on first use. */
function createSchemas({ components }: OpenApiDocument) {
  const compiled = new Map<Schema, ReturnType<typeof Compile>>();
  const resolve = (reference: string): Schema => {
    const [, section = "", name = ""] = /^#\/components\/(\w+)\/(.+)$/.exec(reference) ?? [];
    const found = (components as Record<string, Record<string, Schema>>)[section]?.[name];
    if (!found) throw new Error(`The document has no ${reference}`);
    return found;
  };
  const check = (schema: Schema, value: unknown): string[] => {
    const validator = compiled.get(schema) ?? Compile(toJsonSchema(schema, resolve) as object);
    compiled.set(schema, validator);
    const [isValid, errors] = validator.Errors(value);
    return isValid ? [] : errors.map(({ instancePath, message }) => `${instancePath || "body"} ${message}`);
  };
  return {
    errorsOf(schema: Schema, text: string): string[] {
      try {
        return check(schema, JSON.parse(text));
      } catch {
        return [`a body that is not JSON: ${text}`];
      }
    },
    headerErrors(reference: string, value: string | null): string[] {
      const { required = false, schema } = resolve(reference) as { required?: boolean; schema: Schema };
      if (value === null) return required ? ["is missing"] : [];
      return check(schema, schema.type === "integer" ? Number(value) : value);
    },
  };
}

/** From the dialect of 3.0.3 to JSON Schema. It is stricter: objects have no undocumented members. */
function toJsonSchema(part: unknown, resolve: (reference: string) => Schema): unknown {
  if (Array.isArray(part)) return part.map((member) => toJsonSchema(member, resolve));
  if (typeof part !== "object" || part === null) return part;
  if ("$ref" in part) return toJsonSchema(resolve(String(part.$ref)), resolve);
  const { nullable, example, ...schema } = part as Schema;
  const translated = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, toJsonSchema(value, resolve)]),
  );
  if (schema.type === "object") translated.additionalProperties ??= false;
  return nullable === true ? { anyOf: [translated, { type: "null" }] } : translated;
}
