/**
 * Checks requests against wire schemas. The length of every string is checked before any pattern runs, and an issue
 * never contains the submitted value.
 */
import {
  describeTooLong,
  describeViolation,
  type ValidationIssue,
  withoutRepetitions,
} from "@latchkey/contracts";
import Type from "typebox";
import type { TLocalizedValidationError } from "typebox/error";
import { Compile } from "typebox/schema";
import { ServiceError } from "../errors.ts";
import { unknownParameter } from "./issues.ts";

type Members = Record<string, unknown>;

/** Clients leave out what they do not set. An enumeration that lists null states what it means. */
const isNullable = (schema: unknown): boolean =>
  Type.IsNull(schema) || (Type.IsUnion(schema) && schema.anyOf.some(isNullable));

/**
 * Returns a function that returns the value if it is valid, and throws INVALID_REQUEST with all issues otherwise.
 * @param refine finds further issues in values that the schema accepts. @default none
 * @throws {TypeError} if a member of the schema can be null
 */
export function validator<Schema extends Type.TObject>(
  schema: Schema,
  location: "body" | "query" | "path",
  refine: (value: Type.Static<Schema>) => readonly ValidationIssue[] = () => [],
): (value: unknown) => Type.Static<Schema> {
  for (const [name, property] of Object.entries(schema.properties))
    if (isNullable(property)) throw new TypeError(`The member ${name} of a request can be null`);
  const compiled = Compile(schema);
  const maxLengths = Object.entries(schema.properties).flatMap(([name, property]) =>
    "maxLength" in property && typeof property.maxLength === "number"
      ? [{ name, maxLength: property.maxLength }]
      : [],
  );
  return (candidate) => {
    const members = isMembers(candidate) ? candidate : {};
    if (location !== "body") readNumbers(members, schema);
    const tooLong = maxLengths.filter(({ name, maxLength }) => isLongerThan(members[name], maxLength));
    if (tooLong.length === 0 && compiled.Check(candidate)) {
      const issues = refine(candidate);
      if (issues.length === 0) return candidate;
      throw new ServiceError("INVALID_REQUEST", { issues });
    }

    // Texts that are too long are replaced by empty texts, to check the other members.
    const emptied = Object.fromEntries(tooLong.map(({ name }) => [name, ""]));
    const [, errors] = compiled.Errors(tooLong.length === 0 ? candidate : { ...members, ...emptied });
    const issues = [
      ...tooLong.map(({ name, maxLength }) => ({ loc: [location, name], ...describeTooLong(maxLength) })),
      ...withoutRepetitions(errors)
        .flatMap((error) => issuesOf(error, location))
        .filter(({ loc: [, name = ""] }) => !(name in emptied)),
    ];
    throw new ServiceError("INVALID_REQUEST", { issues });
  };
}

interface QueryOptions {
  /** Runs before the parameters are checked. @default no change */
  readonly normalize?: ((members: Members) => Members) | undefined;
  /** Whether a parameter that is not declared is an issue. @default it is ignored */
  readonly rejectsUnknown?: boolean | undefined;
}

const NONE: ReadonlySet<string> = new Set();

/**
 * Returns a function that reads the declared parameters from the query string of a URL. Elysia's own parser is not used,
 * because it adds all parameters to an object (`json.ts` explains the risk).
 * @throws INVALID_REQUEST with all unknown parameters, or with all issues of the others
 */
export function queryValidator<Schema extends Type.TObject>(
  schema: Schema,
  { normalize = (members) => members, rejectsUnknown = false }: QueryOptions = {},
): (url: string) => Type.Static<Schema> {
  const check = validator(schema, "query");
  const names = Object.keys(schema.properties);
  const known = new Set(names);
  return (url) => {
    const start = url.indexOf("?");
    const members: Members = {};
    const parameters = new URLSearchParams(start === -1 ? "" : url.slice(start));
    const unknown = rejectsUnknown ? new Set(parameters.keys()).difference(known) : NONE;
    if (unknown.size > 0)
      throw new ServiceError("INVALID_REQUEST", { issues: [...unknown].map(unknownParameter) });
    for (const name of names) {
      const values = parameters.getAll(name);
      if (values.length > 0) members[name] = values.length === 1 ? values[0] : values;
    }
    return check(normalize(members));
  };
}

/** Checks the query of a route without parameters. @throws INVALID_REQUEST if it has any */
export const expectNoParameters = queryValidator(Type.Object({}), { rejectsUnknown: true });

const isMembers = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Whether `value` is a text of more than `maxLength` code points. A code point has one or two UTF-16 units. */
function isLongerThan(value: unknown, maxLength: number): boolean {
  if (typeof value !== "string" || value.length <= maxLength) return false;
  return value.length > 2 * maxLength || [...value].length > maxLength;
}

const PLAIN_INTEGER = /^(0|[1-9][0-9]*)$/;

/** Converts text to numbers where the schema expects an integer. Accepts plain decimal digits only. */
function readNumbers(members: Members, schema: Type.TObject): void {
  for (const [name, value] of Object.entries(members)) {
    const { type } = schema.properties[name] as { type?: string };
    if (type === "integer" && typeof value === "string" && PLAIN_INTEGER.test(value))
      members[name] = Number(value);
  }
}

function issuesOf(error: TLocalizedValidationError, location: string): ValidationIssue[] {
  const loc = [location, ...error.instancePath.split("/").slice(1).map(decodePointer)];
  if (error.keyword !== "required" && error.keyword !== "dependentRequired")
    return [{ loc, ...describeViolation(error) }];
  const { params } = error;
  const names = "dependencies" in params ? params.dependencies : params.requiredProperties;
  return names.map((name) => ({ loc: [...loc, name], msg: "is required", type: "missing" }));
}

/** A part of a JSON pointer (RFC 6901 §3): the name of a claim can contain a slash. */
const decodePointer = (part: string): string => part.replaceAll("~1", "/").replaceAll("~0", "~");
