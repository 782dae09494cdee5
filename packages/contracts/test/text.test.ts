/** Lengths are counted in code points, not in UTF-16 units or graphemes. */
import { describe, expect, test } from "bun:test";
import { Compile } from "typebox/compile";
import { CreateTodoRequest, LoginRequest, RegisterRequest, UpdateUserRequest } from "../src/index.ts";

const register = Compile(RegisterRequest);
const valid = { email: "ada@example.com", username: "ada", password: "correct horse" };
const update = Compile(UpdateUserRequest);
/** Register and update have the same rules. */
function accepts(change: Partial<typeof valid>): boolean {
  const isAccepted = register.Check({ ...valid, ...change });
  if (!("email" in change)) expect(update.Check(change)).toBe(isAccepted);
  return isAccepted;
}

describe("text", () => {
  test("lengths are counted in code points", () => {
    expect(accepts({ username: "x" })).toBe(true);
    expect(accepts({ username: "" })).toBe(false);
    expect(accepts({ username: "👍".repeat(32) })).toBe(true);
    expect(accepts({ username: "👍".repeat(33) })).toBe(false);
    expect(accepts({ password: "👍".repeat(8) })).toBe(true);
    expect(accepts({ password: "👍".repeat(7) })).toBe(false);
    expect(accepts({ password: "👍".repeat(128) })).toBe(true);
    expect(accepts({ password: "👍".repeat(129) })).toBe(false);
    // Three accented letters in decomposed form are six code points, though three graphemes.
    expect(accepts({ username: "e\u0301".repeat(16) })).toBe(true);
    expect(accepts({ username: "e\u0301".repeat(17) })).toBe(false);
  });

  test.each(["\u0000", "\ud800", "\udfff", "\ude00\ud83d"])(
    "U+0000 and lone surrogates are rejected: %j",
    (bad) => {
      expect(accepts({ username: `a${bad}b` })).toBe(false);
      expect(accepts({ password: `abcdefgh${bad}` })).toBe(false);
      expect(accepts({ email: `a${bad}@example.com` })).toBe(false);
      expect(accepts({ email: `a@exa${bad}mple.com` })).toBe(false);
      expect(Compile(LoginRequest).Check({ email: valid.email, password: bad })).toBe(false);
      expect(Compile(CreateTodoRequest).Check({ title: bad })).toBe(false);
    },
  );

  test("every other character is accepted, including control characters and spaces", () => {
    expect(accepts({ username: " \t\u0001\u202e\uffff" })).toBe(true);
  });
});

describe("e-mail", () => {
  test.each(["a@b.c", "a+b@sub.example.com", "ü@exämple.de", "a@b.c.d"])("accepts %s", (email) => {
    expect(accepts({ email })).toBe(true);
  });
  test.each(["", "a@b", "a@b.", "a@.b", "a@b..c", "a b@c.d", "a@@b.c", "@b.c", "a@b.c\n", "a\u00a0b@c.d"])(
    "rejects %j",
    (email) => {
      expect(accepts({ email })).toBe(false);
    },
  );
  test("an e-mail address has at most 254 characters", () => {
    expect(accepts({ email: `${"a".repeat(248)}@b.com` })).toBe(true);
    expect(accepts({ email: `${"a".repeat(249)}@b.com` })).toBe(false);
  });
});
