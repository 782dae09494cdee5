/**
 * Holds an answer to the document: its status, headers and body are those that the operation promises, and none that
 * it does not. What no operation answers (other paths, other methods, preflights) has rules of its own.
 */
import { Compile } from "typebox/schema";
import { type NamedOperation, type OpenApiDocument, operationsOf, type Schema } from "./openapi-document.ts";

export interface SentRequest {
  readonly method: string;
  /** With or without a query. */
  readonly path: string;
}

export interface ReceivedAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Gives what is wrong with the answer, a sentence each; nothing if it keeps the contract. */
export type Contract = (request: SentRequest, answer: ReceivedAnswer) => string[];

/** The documents themselves, which the document leaves out. */
const UNDOCUMENTED = /^\/(openapi\.json|docs|redoc|docs\/assets\/.+)$/;
/** Headers that an operation must have announced. */
const ANNOUNCED = /^(x-request-id|ratelimit-.+|retry-after|www-authenticate|allow)$/;
const ERROR_RESPONSE = { $ref: "#/components/schemas/ErrorResponse" };

export function createContract(document: OpenApiDocument): Contract {
  const operations = operationsOf(document).map((operation) => ({
    operation,
    path: matcher(operation.path),
  }));
  const schemas = createSchemas(document);

  const judgeFallback = (answer: ReceivedAnswer, status: number): string[] => [
    ...(answer.status === status ? [] : [`status ${answer.status} instead of ${status}`]),
    ...(status === 405 && !answer.headers.has("allow") ? ["405 without Allow"] : []),
    ...schemas.faultsOf(ERROR_RESPONSE, answer.text),
  ];

  return ({ method, path: target }, answer) => {
    const path = target.replace(/\?.*$/, "").replace(/(.)\/$/, "$1");
    const isHead = method === "HEAD";
    if (UNDOCUMENTED.test(path)) return [];
    const known = operations.filter((one) => one.path.test(path));
    const named = known.find(({ operation }) => operation.method === (isHead ? "GET" : method));
    // Only operations with a body document it, but the announced length is checked everywhere.
    const isUndocumented413 = answer.status === 413 && !named?.operation.requestBody;
    if (named && !isUndocumented413) return judge(named.operation, answer, { schemas, isHead });
    if (answer.status === 204 && method === "OPTIONS") return [];
    if (answer.status === 413 || answer.status === 429) return judgeFallback(answer, answer.status);
    return isHead ? [] : judgeFallback(answer, known.length > 0 ? 405 : 404);
  };
}

const matcher = (path: string): RegExp => new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`);

interface Judging {
  readonly schemas: ReturnType<typeof createSchemas>;
  readonly isHead: boolean;
}

function judge(
  { responses }: NamedOperation,
  { status, headers, text }: ReceivedAnswer,
  { schemas, isHead }: Judging,
): string[] {
  const response = responses[status];
  if (!response) return [`status ${status} is not documented: ${text}`];
  const faults: string[] = [];

  const announced = new Map(Object.entries(response.headers ?? {}).map(([name, { $ref }]) => [name, $ref]));
  const announcedNames = new Set([...announced.keys()].map((name) => name.toLowerCase()));
  for (const name of headers.keys()) {
    if (ANNOUNCED.test(name) && !announcedNames.has(name)) faults.push(`header ${name} is not documented`);
  }
  for (const [name, reference] of announced) {
    faults.push(
      ...schemas.headerFaults(reference, headers.get(name)).map((fault) => `header ${name}: ${fault}`),
    );
  }

  const [type, content] = Object.entries(response.content ?? {})[0] ?? [];
  if (isHead) return faults;
  if (content === undefined)
    return text === "" ? faults : [...faults, `a body where none is documented: ${text}`];
  if (headers.get("content-type")?.split(";")[0] !== type) {
    faults.push(`content type ${headers.get("content-type")} instead of ${type}`);
  }
  return [...faults, ...schemas.faultsOf(content.schema, text)];
}

/** The document's schemas, compiled when first asked for. */
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
    faultsOf(schema: Schema, text: string): string[] {
      try {
        return check(schema, JSON.parse(text));
      } catch {
        return [`a body that is no JSON: ${text}`];
      }
    },
    headerFaults(reference: string, value: string | null): string[] {
      const { required = false, schema } = resolve(reference) as { required?: boolean; schema: Schema };
      if (value === null) return required ? ["is missing"] : [];
      return check(schema, schema.type === "integer" ? Number(value) : value);
    },
  };
}

/** From the dialect of 3.0.3 to JSON Schema, and stricter: an object has no member that is not documented. */
function toJsonSchema(part: unknown, resolve: (reference: string) => Schema): unknown {
  if (Array.isArray(part)) return part.map((member) => toJsonSchema(member, resolve));
  if (typeof part !== "object" || part === null) return part;
  if ("$ref" in part) return toJsonSchema(resolve(String(part.$ref)), resolve);
  const { nullable, example, allOf, ...schema } = part as Schema;
  if (Array.isArray(allOf)) return toJsonSchema(mergeObjects(allOf, resolve), resolve);
  const translated = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, toJsonSchema(value, resolve)]),
  );
  if (schema.type === "object") translated.additionalProperties = false;
  return nullable === true ? { anyOf: [translated, { type: "null" }] } : translated;
}

/** One object schema with the members of all; of two members with one name, the last is the narrowest. */
function mergeObjects(parts: readonly Schema[], resolve: (reference: string) => Schema): Schema {
  const objects = parts.map((part) => ("$ref" in part ? resolve(String(part.$ref)) : part));
  return {
    type: "object",
    required: [...new Set(objects.flatMap(({ required }) => required))],
    properties: Object.assign({}, ...objects.map(({ properties }) => properties)),
  };
}
