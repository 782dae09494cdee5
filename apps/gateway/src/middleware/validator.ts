/**
 * Wire schemas made usable in routes: each becomes a Standard Schema that hands the handler only declared members.
 * It throws instead of returning issues, since the router's own error would carry the submitted value.
 */
import type { ValidationIssue } from "@latchkey/contracts";
import type Type from "typebox";
import { Compile } from "typebox/compile";
import type { TLocalizedValidationError } from "typebox/error";
import { InvalidRequest } from "../errors.ts";

export type Location = "body" | "query" | "path";

/** https://standardschema.dev, version 1, as far as the router uses it. */
interface StandardSchema<Output> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: "typebox";
    readonly validate: (value: unknown) => { readonly value: Output };
    readonly types?: { readonly input: Output; readonly output: Output };
  };
}

type Members = Record<string, unknown>;

export interface ValidatorOptions {
  readonly in: Location;
  /** Applied to the members before they are checked. */
  readonly prepare?: (members: Members) => Members;
}

/**
 * Wraps an object schema for a route.
 * @throws {InvalidRequest} from `validate`, with an issue for every fault
 */
export function validator<Schema extends Type.TObject>(
  schema: Schema,
  { in: location, prepare = (members) => members }: ValidatorOptions,
): Schema & StandardSchema<Type.Static<Schema>> {
  const compiled = Compile(schema);
  const names = Object.keys(schema.properties);
  const isText = location !== "body";
  const validate = (value: unknown) => {
    const candidate = isMembers(value) ? prepare(pick(value, names)) : value;
    if (isText && isMembers(candidate)) readNumbers(candidate, schema);
    if (!compiled.Check(candidate)) {
      throw new InvalidRequest(compiled.Errors(candidate).flatMap((error) => issuesOf(error, location)));
    }
    return { value: candidate };
  };
  // Not enumerable, so that it stays out of the OpenAPI document.
  return Object.defineProperty({ ...schema }, "~standard", {
    value: { version: 1, vendor: "typebox", validate },
  }) as Schema & StandardSchema<Type.Static<Schema>>;
}

const isMembers = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Unknown members are ignored, and an inherited one is no member. */
function pick(source: Members, names: readonly string[]): Members {
  const picked: Members = {};
  for (const name of names) if (Object.hasOwn(source, name)) picked[name] = source[name];
  return picked;
}

const PLAIN_INTEGER = /^(0|[1-9][0-9]*)$/;

/** Queries and paths are text: members declared as integers are read from plain decimal digits alone. */
function readNumbers(members: Members, schema: Type.TObject): void {
  for (const [name, value] of Object.entries(members)) {
    const { type } = schema.properties[name] as { type?: string };
    if (type === "integer" && typeof value === "string" && PLAIN_INTEGER.test(value))
      members[name] = Number(value);
  }
}

const ISSUE_TYPES: Readonly<Record<string, string>> = {
  minLength: "string_too_short",
  maxLength: "string_too_long",
  pattern: "string_pattern_mismatch",
  minimum: "greater_than_equal",
  maximum: "less_than_equal",
};

function issuesOf(error: TLocalizedValidationError, location: Location): ValidationIssue[] {
  const path = error.instancePath.split("/").slice(1);
  const loc = [location, ...path];
  if (error.keyword === "required") {
    return error.params.requiredProperties.map((name) => ({
      loc: [...loc, name],
      msg: "is required",
      type: "missing",
    }));
  }
  if (error.keyword === "type")
    return [{ loc, msg: error.message, type: `${[error.params.type].flat()[0]}_type` }];
  return [{ loc, msg: messageOf(error), type: ISSUE_TYPES[error.keyword] ?? error.keyword }];
}

/** A pattern says little to a reader. */
const messageOf = (error: TLocalizedValidationError): string =>
  error.keyword === "pattern" ? "has a form or a character that is not accepted" : error.message;
