/** Lengths are counted in code points, not in UTF-16 units or graphemes. */
import { expect, test } from "bun:test";
import { Compile } from "typebox/compile";
import { RegisterRequest, UpdateUserRequest } from "../src/index.ts";

const register = Compile(RegisterRequest);
const valid = { email: "ada@example.com", username: "ada", password: "correct horse" };
const update = Compile(UpdateUserRequest);
/** Register and update have the same rules. */
function accepts(change: Partial<typeof valid>): boolean {
  const isAccepted = register.Check({ ...valid, ...change });
  if (!("email" in change)) expect(update.Check(change)).toBe(isAccepted);
  return isAccepted;
}

test.each([
  ["username", 1, 32],
  ["password", 8, 128],
])("a %s has %d to %d code points", (name, min, max) => {
  const lengths = [min - 1, min, max, max + 1];
  const accepted = lengths.map((length) => accepts({ [name]: "👍".repeat(length) }));
  expect(accepted).toEqual([false, true, true, false]);
});

test("an accented letter in decomposed form is two code points, though one grapheme", () => {
  expect(accepts({ username: "e\u0301".repeat(16) })).toBe(true);
  expect(accepts({ username: "e\u0301".repeat(17) })).toBe(false);
});

test("characters other than U+0000 and lone surrogates are accepted, including control characters and spaces", () => {
  expect(accepts({ username: " \t\u0001\u202e\uffff" })).toBe(true);
});

const longest = `${"a".repeat(248)}@b.com`;

test.each(["a@b.c", "a+b@sub.example.com", "ü@exämple.de", "a@b.c.d", longest])(
  "the e-mail %s is accepted",
  (email) => {
    expect(accepts({ email })).toBe(true);
  },
);

test.each([
  ...["", "a@b", "a@b.", "a@.b", "a@b..c", "a b@c.d", "a@@b.c", "@b.c", "a@b.c\n", "a\u00a0b@c.d"],
  ...["a@\u0000.c", "a@\ud800.c", "a@b.\u0000", "a@b.\udfff", `a${longest}`],
])("the e-mail %j is rejected", (email) => {
  expect(accepts({ email })).toBe(false);
});
