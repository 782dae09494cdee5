/**
 * Reads strict JSON (RFC 8259) from untrusted text. Builds only the members that the caller names. `JSON.parse` adds every name
 * and short string to a hash table whose hash function has no secret. A client can therefore send strings whose hashes collide,
 * which take quadratic time.
 */
import { countNames, JSON_MAX_DEPTH, JSON_MAX_MEMBERS } from "@latchkey/contracts";

const [SPACE, QUOTE, PLUS, COMMA, MINUS, DOT] = [0x20, 0x22, 0x2b, 0x2c, 0x2d, 0x2e];
const [ZERO, NINE, COLON, LOWER_A, LOWER_E, LOWER_F] = [0x30, 0x39, 0x3a, 0x61, 0x65, 0x66];
const [LOWER_N, LOWER_T, LOWER_U] = [0x6e, 0x74, 0x75];
const [OPEN_BRACKET, BACKSLASH, OPEN_BRACE, CLOSE_BRACE] = [0x5b, 0x5c, 0x7b, 0x7d];
/** The difference between the codes of `[` and `]`, and between the codes of `{` and `}`. */
const TO_CLOSING = 2;
/** The bit that converts an upper-case letter to lower case. */
const LOWER_BIT = 0x20;
/** The length of an escape such as `\u0061`. */
const ESCAPE_LENGTH = 6;

/** Describes the JSON that `readJsonMembers` accepts. */
export const ACCEPTED_JSON = `valid JSON in UTF-8, with at most ${JSON_MAX_DEPTH} levels and ${JSON_MAX_MEMBERS} members per object`;

/** Reads the JSON of a member that is an object or an array, and that `readJsonMembers` has checked. */
export type JsonReader = (json: string) => unknown;

/**
 * Returns the named members of a JSON object, or null for any other JSON. A member that is an array or an object without a
 * reader is returned empty. If a name is repeated, the last value counts.
 * @param readers the readers for members that are objects or arrays, by the name of the member
 * @throws {SyntaxError} if `json` is not JSON, is nested deeper than 64 levels or has an object with more than 256 members
 */
export function readJsonMembers(
  json: string,
  names: readonly string[],
  readers?: ReadonlyMap<string, JsonReader>,
): Record<string, unknown> | null {
  // JSON cannot contain U+0000, so the code below never reads beyond this terminator.
  const text = `${json}\0`;
  const values = new Map<string, string>();
  /** `levels` contains the closing bracket of each open level. `members` counts the members at each open level. */
  const levels: number[] = [];
  const members: number[] = [];
  let at = skipBlanks(text, 0);
  const isObject = text.charCodeAt(at) === OPEN_BRACE;
  let nameStart = 0;
  let valueStart = 0;

  // One iteration per value, not one call: the engine compiles a running loop, so even the first long text takes little time.
  while (true) {
    const code = text.charCodeAt(at);
    let isComplete = true;
    if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (levels.push(code + TO_CLOSING) > JSON_MAX_DEPTH) throw new SyntaxError("Too many levels");
      members[levels.length] = 0;
      at = skipBlanks(text, at + 1);
      isComplete = text.charCodeAt(at) === code + TO_CLOSING;
    } else if (code === QUOTE) at = skipString(text, at);
    else at = code <= NINE ? skipNumber(text, at) : skipLiteral(text, at);

    // The end of a value can also be the end of enclosing levels. A comma starts the next value.
    while (isComplete) {
      at = skipBlanks(text, at);
      if (levels.length === 0) {
        if (at < json.length) throw new SyntaxError("Text after the value");
        return isObject ? build(values, readers) : null;
      }
      if (levels.length === 1 && valueStart > 0) {
        for (const name of names) {
          if (isName(text, nameStart, name)) values.set(name, text.slice(valueStart, at));
        }
      }
      const next = text.charCodeAt(at);
      if (next === levels[levels.length - 1]) levels.pop();
      else if (next === COMMA) isComplete = false;
      else throw new SyntaxError("No comma");
      at = isComplete ? at + 1 : skipBlanks(text, at + 1);
    }

    if (levels[levels.length - 1] === CLOSE_BRACE) {
      const count = (members[levels.length] ?? 0) + 1;
      if (count > JSON_MAX_MEMBERS) throw new SyntaxError("Too many members");
      members[levels.length] = count;
      const start = at;
      at = skipBlanks(text, skipString(text, start));
      if (text.charCodeAt(at) !== COLON) throw new SyntaxError("No colon");
      at = skipBlanks(text, at + 1);
      if (levels.length === 1) [nameStart, valueStart] = [start, at];
    }
  }
}

function build(
  values: ReadonlyMap<string, string>,
  readers?: ReadonlyMap<string, JsonReader>,
): Record<string, unknown> {
  const members: Record<string, unknown> = {};
  for (const [name, value] of values) {
    const empty = value.startsWith("[") ? [] : value.startsWith("{") ? {} : undefined;
    members[name] = empty === undefined ? JSON.parse(value) : (readers?.get(name)?.(value) ?? empty);
  }
  return members;
}

/**
 * Returns the texts of an array. An element that is no text is returned as null, and the elements after `maxItems` + 1 are not read:
 * a schema that allows `maxItems` texts rejects both. Returns null for any other JSON.
 */
export const readJsonTexts =
  (maxItems: number): JsonReader =>
  (json) => {
    if (!json.startsWith("[")) return null;
    const texts: (string | null)[] = [];
    let at = skipBlanks(json, 1);
    while (json.charCodeAt(at) === QUOTE && texts.length <= maxItems) {
      const end = skipString(json, at);
      texts.push(JSON.parse(json.slice(at, end)));
      at = skipBlanks(json, end);
      if (json.charCodeAt(at) === COMMA) at = skipBlanks(json, at + 1);
    }
    const isComplete = at === json.length - 1 || texts.length > maxItems;
    return isComplete ? texts : [...texts, null];
  };

/** A member is JSON that its reader does not accept. */
export class InvalidMember extends SyntaxError {
  constructor(
    readonly member: string,
    message: string,
  ) {
    super(message);
  }
}

/** Valid claims have at most 1 KiB. Escapes and white space can make their text longer. */
const CLAIMS_MAX_LENGTH = 8192;

/**
 * Returns the claims, with whatever values. A longer text is not parsed, and a repeated name would silently end the earlier one.
 * @throws {InvalidMember}
 */
export const readJsonClaims =
  (name: string): JsonReader =>
  (json) => {
    if (json.length > CLAIMS_MAX_LENGTH)
      throw new InvalidMember(name, `must have at most ${CLAIMS_MAX_LENGTH} characters`);
    const claims: object = JSON.parse(json);
    // The names in other values would be counted, too: those are not valid anyway.
    const isFlat = Object.values(claims)
      .flat()
      .every((value) => typeof value !== "object");
    if (isFlat && countNames(json) > Object.keys(claims).length)
      throw new InvalidMember(name, "must not have a name twice");
    return claims;
  };

/** Whether the string at `start`, which can contain `\u` escapes, equals `name`. Allocates nothing. */
function isName(text: string, start: number, name: string): boolean {
  let at = start + 1;
  for (let index = 0; index < name.length; index++) {
    const isEscape = text.charCodeAt(at) === BACKSLASH && text.charCodeAt(at + 1) === LOWER_U;
    const code = isEscape ? readHex(text, at + 2) : text.charCodeAt(at);
    if (code !== name.charCodeAt(index)) return false;
    at += isEscape ? ESCAPE_LENGTH : 1;
  }
  return text.charCodeAt(at) === QUOTE;
}

/** Returns the value of the four hexadecimal digits at `start`. `skipString` has already checked the digits. */
function readHex(text: string, start: number): number {
  let value = 0;
  for (let at = start; at < start + 4; at++) {
    const code = text.charCodeAt(at);
    value = value * 16 + (isDigit(code) ? code - ZERO : (code | LOWER_BIT) - LOWER_A + 10);
  }
  return value;
}

// Each function below skips the text that its name states, and returns the next position. Other text causes a SyntaxError.

/** The second characters of escapes such as `\n`. */
const ESCAPES = new Set(Array.from('"\\/bfnrt', (character) => character.charCodeAt(0)));

function skipString(text: string, start: number): number {
  if (text.charCodeAt(start) !== QUOTE) throw new SyntaxError("No opening quote");
  let at = start + 1;
  while (true) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code !== BACKSLASH) {
      if (code < SPACE) throw new SyntaxError("No closing quote");
      at += 1;
    } else if (text.charCodeAt(at + 1) === LOWER_U) {
      at += 2;
      for (const end = at + 4; at < end; at++) {
        if (!isHexDigit(text.charCodeAt(at))) throw new SyntaxError("No hexadecimal digit");
      }
    } else {
      if (!ESCAPES.has(text.charCodeAt(at + 1))) throw new SyntaxError("Unknown escape");
      at += 2;
    }
  }
}

function skipNumber(text: string, start: number): number {
  let at = text.charCodeAt(start) === MINUS ? start + 1 : start;
  at = text.charCodeAt(at) === ZERO ? at + 1 : skipDigits(text, at);
  if (text.charCodeAt(at) === DOT) at = skipDigits(text, at + 1);
  if ((text.charCodeAt(at) | LOWER_BIT) !== LOWER_E) return at;
  const sign = text.charCodeAt(at + 1);
  return skipDigits(text, sign === PLUS || sign === MINUS ? at + 2 : at + 1);
}

function skipDigits(text: string, start: number): number {
  let at = start;
  while (isDigit(text.charCodeAt(at))) at += 1;
  if (at === start) throw new SyntaxError("No digit");
  return at;
}

function skipLiteral(text: string, start: number): number {
  const first = text.charCodeAt(start);
  const literal = first === LOWER_N ? "null" : first === LOWER_T ? "true" : "false";
  if (!text.startsWith(literal, start)) throw new SyntaxError("No value");
  return start + literal.length;
}

function skipBlanks(text: string, start: number): number {
  let at = start;
  while (isBlank(text.charCodeAt(at))) at += 1;
  return at;
}

const isBlank = (code: number): boolean => code === SPACE || code === 0x0a || code === 0x0d || code === 0x09;
const isDigit = (code: number): boolean => code >= ZERO && code <= NINE;
const isHexDigit = (code: number): boolean =>
  isDigit(code) || ((code | LOWER_BIT) >= LOWER_A && (code | LOWER_BIT) <= LOWER_F);
