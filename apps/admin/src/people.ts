/** Reads what the operator says of a person, within the very bounds of the API. */
import { ID_MAX, RegisterRequest } from "@latchkey/contracts";
import type Type from "typebox";
import { Compile } from "typebox/compile";
import { UsageError } from "./failures.ts";

/** Which account: an id is what the service's logs name people by. */
export type Who = { readonly email: string } | { readonly id: number };

const { email, username, password } = RegisterRequest.properties;
const DIGITS = /^[1-9][0-9]*$/;

/**
 * Trimmed and lowercased, as at every door of the service.
 * @throws UsageError
 */
export const parseEmail = textReader("e-mail address", email, (text) => text.trim().toLowerCase());

/** @throws UsageError */
export const parseUsername = textReader("username", username);

/** Taken as it is. @throws UsageError, whose message does not repeat it */
export const parsePassword = textReader("password", password);

/** @throws UsageError */
export function parseWho(text: string): Who {
  if (text.includes("@")) return { email: parseEmail(text) };
  const id = DIGITS.test(text) ? Number(text) : Number.NaN;
  if (id <= ID_MAX) return { id };
  throw new UsageError(`An account is named by its e-mail address or by its id, 1 to ${ID_MAX}.`);
}

/** A whole number in plain decimal digits. @throws UsageError */
export function parseWhole(
  name: string,
  text: string,
  [minimum, maximum]: readonly [number, number],
): number {
  const value = /^(0|[1-9][0-9]*)$/.test(text) ? Number(text) : Number.NaN;
  if (value >= minimum && value <= maximum) return value;
  throw new UsageError(`The value of ${name} must be a whole number from ${minimum} to ${maximum}.`);
}

function textReader(name: string, schema: Type.TSchema, prepare = (text: string) => text) {
  const compiled = Compile(schema);
  return (given: string): string => {
    const text = prepare(given);
    const [error] = compiled.Errors(text);
    if (!error) return text;
    // A pattern says little to a reader.
    const problem =
      error.keyword === "pattern" ? "has a form or a character that is not accepted" : error.message;
    throw new UsageError(`The ${name} ${problem}.`);
  };
}
