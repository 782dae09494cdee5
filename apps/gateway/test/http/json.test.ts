/** The JSON reader accepts exactly what `JSON.parse` accepts, within its two limits, and returns the declared members only. */
import { expect, test } from "bun:test";
import { isFullRun } from "@latchkey/testing/full-run";
import fc from "fast-check";
import { readJsonMembers } from "../../src/http/json.ts";

const NAMES = ["title", "t"];

/** The result of `JSON.parse`: `invalid`, or the members that the reader must return. */
function expectedOf(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return "invalid";
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const members = Object.entries(value).filter(([name]) => NAMES.includes(name));
  return Object.fromEntries(members.map(([name, member]) => [name, emptied(member)]));
}

const emptied = (value: unknown): unknown => {
  if (Array.isArray(value)) return [];
  return typeof value === "object" && value !== null ? {} : value;
};

function actualOf(text: string): unknown {
  try {
    return readJsonMembers(text, NAMES);
  } catch (error) {
    if (error instanceof SyntaxError) return "invalid";
    throw error;
  }
}

const FRAGMENTS = [
  ...["{", "}", "[", "]", ":", ",", " ", "\t", "\n", "\u00a0", "\ufeff", "\0", "true", "fals", "null", "NaN"],
  ...["1", "-", "0", ".", "e", "+", "1e5", "-0.5", "01", '"', "\\", '"t"', '"title"', '"t\\u0069tle"'],
  ...['"\\u0074"', '"\\n"', '"\\x"', '"\\u00zz"', '"\\ud800"', '"é\u{1f98a}"', '"\u001f"', '"x\\"y"'],
];

test.each([
  [
    "fragments of JSON",
    fc.array(fc.constantFrom(...FRAGMENTS), { maxLength: 12 }).map((parts) => parts.join("")),
  ],
  [
    "fragments in an object",
    fc.array(fc.constantFrom(...FRAGMENTS), { maxLength: 8 }).map((parts) => `{"title":${parts.join("")}}`),
  ],
  ["valid JSON", fc.json()],
  [
    "objects with declared members",
    fc
      .array(fc.tuple(fc.constantFrom("t", "title", "titl", "x"), fc.json()), { maxLength: 6 })
      .map((members) => `{${members.map(([name, value]) => `"${name}" : ${value}`).join()}}`),
  ],
])("agrees with JSON.parse on %s", (_kind, texts) => {
  fc.assert(
    fc.property(texts, (text) => expect(actualOf(text)).toEqual(expectedOf(text))),
    { numRuns: isFullRun ? 20_000 : 2_000, seed: 20_011 },
  );
});

test("an object can have 256 members, at any level", () => {
  const object = (members: number) => `{${Array.from({ length: members }, (_, index) => `"${index}":0`)}}`;
  const wrap = (json: string) => `{"x":[${json},{"y":${json}}],"t":1}`;
  expect(actualOf(object(256))).toEqual({});
  expect(actualOf(wrap(object(256)))).toEqual({ t: 1 });
  for (const json of [object(257), wrap(object(257)), `[${object(257)}]`, `{${'"t":1,'.repeat(256)}"t":2}`])
    expect(actualOf(json)).toBe("invalid");
});

test.each([
  ["arrays", "[", "]", 1],
  ["objects", '{"t":', "}", 1],
  ["both", '{"x":[', "]}", 2],
])("64 levels of %s are valid and more are not", (_kind, open, close, levels) => {
  const nested = (times: number) => `${open.repeat(times)}0${close.repeat(times)}`;
  expect(actualOf(nested(64 / levels))).not.toBe("invalid");
  expect(actualOf(nested(64 / levels + 1))).toBe("invalid");
});

test("siblings and brackets within strings are not nesting", () => {
  expect(actualOf(`[${"[],".repeat(1_000)}{}]`)).toBeNull();
  const text = '[{"'.repeat(100);
  expect(actualOf(JSON.stringify({ t: text, [text]: 0 }))).toEqual({ t: text });
});
