/** Parses and validates the arguments that identify or describe a user, with the schemas of the API. */
import type { UserRef } from "@latchkey/administration";
import { usageError } from "@latchkey/cli";
import {
  describeViolation,
  ID_MAX,
  isMailable,
  LoginRequest,
  normalizeEmail,
  RegisterRequest,
  Roles,
  toAsciiEmail,
} from "@latchkey/contracts";
import type Type from "typebox";
import { Compile } from "typebox/schema";

const { email: newEmail, username, password } = RegisterRequest.properties;
const { email } = LoginRequest.properties;

/** Trims and lowercases the e-mail address of an existing user. @throws {CliError} with exit code 64 */
export const parseEmail = textParser("e-mail", email, normalizeEmail);

const parseAsciiEmail = textParser("e-mail", newEmail, (text) => toAsciiEmail(normalizeEmail(text)));

/** Checks and converts a new e-mail address as the service does. @throws {CliError} with exit code 64 */
export function parseNewEmail(given: string): string {
  const address = parseAsciiEmail(given);
  if (isMailable(address)) return address;
  throw usageError("The e-mail is not a valid e-mail address.");
}

const parseEmailOfDomain = textParser("domain", email, (text) => `user@${text.trim().toLowerCase()}`);

/** Returns the domain of an e-mail address, trimmed and lowercased. @throws {CliError} with exit code 64 */
export const parseDomain = (text: string): string => parseEmailOfDomain(text).slice("user@".length);

/** @throws {CliError} with exit code 64 */
export const parseUsername = textParser("username", username);

/**
 * Returns a function that checks a new password as the service does. The function returns the password unchanged.
 * @throws {CliError} with exit code 64; the message does not contain the password
 */
export function passwordParser(minLength: number, isListed: (password: string) => boolean) {
  const parse = textParser("password", { ...password, minLength });
  return (given: string): string => {
    if (isListed(parse(given))) throw usageError("The password is too common or was leaked.");
    return given;
  };
}

const compiledRoles = Compile(Roles);

/** Returns the roles in sorted order, without duplicates. @throws {CliError} with exit code 64 */
export function parseRoles(given: readonly string[]): string[] {
  const roles = [...new Set(given)].sort();
  if (compiledRoles.Check(roles)) return roles;
  throw usageError("A user has at most 20 roles of 1 to 64 characters: a to z, 0 to 9, and : _ . -");
}

const REASON_MAX_LENGTH = 200;

/** Returns the reason without surrounding spaces. @throws {CliError} with exit code 64 */
export function parseReason(given: string | undefined): string | undefined {
  const reason = given?.trim();
  if (reason === undefined || (reason !== "" && [...reason].length <= REASON_MAX_LENGTH)) return reason;
  throw usageError(`--reason must have 1 to ${REASON_MAX_LENGTH} characters.`);
}

/** @throws {CliError} with exit code 64 */
export function parseUserRef(text: string): UserRef {
  if (text.includes("@")) return { email: parseEmail(text) };
  const id = /^[1-9][0-9]*$/.test(text) ? Number(text) : Number.NaN;
  if (id <= ID_MAX) return { id };
  throw usageError(`Specify the user by e-mail address or by id, 1 to ${ID_MAX}.`);
}

function textParser(name: string, schema: Type.TSchema, normalize = (text: string) => text) {
  const compiled = Compile(schema);
  return (given: string): string => {
    const text = normalize(given);
    // `Errors` is called only if `Check` fails, because `Errors` is many times slower and an import parses two texts per line.
    const [, [error]] = compiled.Check(text) ? [true, []] : compiled.Errors(text);
    if (!error) return text;
    throw usageError(`The ${name} ${describeViolation(error).msg}.`);
  };
}
