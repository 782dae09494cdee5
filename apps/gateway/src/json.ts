/**
 * Strict JSON (RFC 8259) from untrusted text. Builds only the members that the caller names: filling an object takes
 * quadratic time if the hashes of its names collide, and the engine's hash has no secret.
 */
import { JSON_MAX_DEPTH } from "@latchkey/contracts";

const [SPACE, QUOTE, PLUS, COMMA, MINUS, DOT] = [0x20, 0x22, 0x2b, 0x2c, 0x2d, 0x2e];
const [ZERO, NINE, COLON, LOWER_A, LOWER_E, LOWER_F] = [0x30, 0x39, 0x3a, 0x61, 0x65, 0x66];
const [OPEN_BRACKET, BACKSLASH, LOWER_U, OPEN_BRACE] = [0x5b, 0x5c, 0x75, 0x7b];
/** From `[` to `]`, and from `{` to `}`. */
const TO_CLOSING = 2;
/** From an upper-case letter to the lower-case one. */
const LOWER_BIT = 0x20;
/** `\u0061` instead of `a`. */
const ESCAPE_LENGTH = 6;

const LITERALS = ["true", "false", "null"];

type OnMember = (nameStart: number, valueStart: number, valueEnd: number) => void;

/**
 * Returns the named members of a JSON object, or null for any other JSON. An array or object as a member's value is
 * returned empty. If a name is repeated, its last value counts.
 * @throws {SyntaxError} if `text` is not JSON or is nested deeper than 64 levels
 */
export function readJsonMembers(text: string, names: readonly string[]): Record<string, unknown> | null {
  const values = new Map<string, string>();
  const start = skipBlanks(text, 0);
  const end = skipValue(text, start, 1, (nameStart, valueStart, valueEnd) => {
    for (const name of names) {
      if (isName(text, nameStart, name)) values.set(name, text.slice(valueStart, valueEnd));
    }
  });
  if (skipBlanks(text, end) < text.length) throw new SyntaxError("Text after the value");
  if (text.charCodeAt(start) !== OPEN_BRACE) return null;
  return Object.fromEntries([...values].map(([name, value]) => [name, build(value)]));
}

/** Whether the string at `start` is `name`, whose characters can be escaped. Allocates nothing for other names. */
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

/** The four hexadecimal digits at `start`, which were checked before. */
function readHex(text: string, start: number): number {
  let value = 0;
  for (let at = start; at < start + 4; at++) {
    const code = text.charCodeAt(at);
    value = value * 16 + (isDigit(code) ? code - ZERO : (code | LOWER_BIT) - LOWER_A + 10);
  }
  return value;
}

function build(value: string): unknown {
  if (value.startsWith("[")) return [];
  return value.startsWith("{") ? {} : JSON.parse(value);
}

// Each function below returns the position after what it skips, and throws a SyntaxError if something else is there.
// Beyond the end of the text, a character code is NaN, which equals nothing.

function skipValue(text: string, start: number, depth: number, onMember?: OnMember): number {
  const code = text.charCodeAt(start);
  if (code === QUOTE) return skipString(text, start);
  if (code === OPEN_BRACE || code === OPEN_BRACKET) return skipContainer(text, start, depth, onMember);
  if (code === MINUS || isDigit(code)) return skipNumber(text, start);
  const literal = LITERALS.find((word) => text.startsWith(word, start));
  if (literal === undefined) throw new SyntaxError("No value");
  return start + literal.length;
}

function skipContainer(text: string, start: number, depth: number, onMember?: OnMember): number {
  if (depth > JSON_MAX_DEPTH) throw new SyntaxError("Too many levels");
  const opening = text.charCodeAt(start);
  let at = skipBlanks(text, start + 1);
  if (text.charCodeAt(at) === opening + TO_CLOSING) return at + 1;
  while (true) {
    const nameStart = at;
    if (opening === OPEN_BRACE) {
      at = skipBlanks(text, skipString(text, nameStart));
      if (text.charCodeAt(at) !== COLON) throw new SyntaxError("No colon");
      at = skipBlanks(text, at + 1);
    }
    const valueStart = at;
    const valueEnd = skipValue(text, valueStart, depth + 1);
    if (opening === OPEN_BRACE) onMember?.(nameStart, valueStart, valueEnd);
    at = skipBlanks(text, valueEnd);
    const next = text.charCodeAt(at);
    if (next === opening + TO_CLOSING) return at + 1;
    if (next !== COMMA) throw new SyntaxError("No comma");
    at = skipBlanks(text, at + 1);
  }
}

/** The second characters of escapes such as `\n`. */
const ESCAPES = new Set(Array.from('"\\/bfnrt', (character) => character.charCodeAt(0)));

function skipString(text: string, start: number): number {
  if (text.charCodeAt(start) !== QUOTE) throw new SyntaxError("No opening quote");
  let at = start + 1;
  while (true) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code !== BACKSLASH) {
      if (Number.isNaN(code) || code < SPACE) throw new SyntaxError("No closing quote");
      at += 1;
    } else if (text.charCodeAt(at + 1) === LOWER_U) {
      at += ESCAPE_LENGTH;
      for (let digit = at - 4; digit < at; digit++) {
        if (!isHexDigit(text.charCodeAt(digit))) throw new SyntaxError("No hexadecimal digit");
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

function skipBlanks(text: string, start: number): number {
  let at = start;
  while (isBlank(text.charCodeAt(at))) at += 1;
  return at;
}

const isBlank = (code: number): boolean => code === SPACE || code === 0x0a || code === 0x0d || code === 0x09;
const isDigit = (code: number): boolean => code >= ZERO && code <= NINE;
const isHexDigit = (code: number): boolean =>
  isDigit(code) || ((code | LOWER_BIT) >= LOWER_A && (code | LOWER_BIT) <= LOWER_F);
