/** Hostile values: texts, JSON and bytes that have broken services, combined with random ones. */
import { gzipSync } from "node:zlib";
import { BODY_MAX_BYTES } from "@latchkey/contracts";
import fc from "fast-check";

/** Part of everything that is secret; no response can contain it. It is not a valid request id. */
export const SECRET = "pa55~of~the~fuzzer";
/** Part of everything else that an error must not repeat. */
export const ECHO = "echo~of~the~fuzzer";

const NASTY = fc.constantFrom(
  ...["", " ", "\0", "\ud800", "\ufeff", "\u202e", "0", "-1", "1", "1e309", "9007199254740993", "null"],
  ...["__proto__", "constructor", "toString", "' or 1=1; drop table users; --", "{{7*7}}#{7*7}<%= 7*7 %>"],
  ...["<script>alert(1)</script>", "\r\nX-Injected: 1\r\n\r\n", "%0d%0aX-Injected:%201", "%00", "%s%n%x"],
  ...["\u560d\u560aX-Injected: 1", "../../../../etc/passwd", "a".repeat(33), "a".repeat(300)],
  "💣".repeat(129),
);

export const text = fc.oneof(
  NASTY,
  NASTY.map((nasty) => ECHO + nasty),
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.string({ unit: "grapheme", maxLength: 40 }),
);
export const secretText = NASTY.map((nasty) => SECRET + nasty);

type Choice<Value> = readonly [weight: number, arbitrary: fc.Arbitrary<Value>];

export const weighted = <Value>(...choices: readonly Choice<Value>[]): fc.Arbitrary<Value> =>
  fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })));

/** Valid values by member name. */
const MEMBERS: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  email: fc.nat(30).map((number) => `fuzz${number}@example.org`),
  username: fc.nat(30).map((number) => `fuzz${number}`),
  password: fc.constantFrom(SECRET, `another ${SECRET}`),
  title: fc.constantFrom("Buy milk", "x"),
  completed: fc.boolean(),
};
const FORMS = [
  ["email", "username", "password"],
  ["email", "password"],
  ["username", "password"],
  ["title", "completed"],
];
const OTHER_NAMES = [...Object.keys(MEMBERS), "token", "is_active", "__proto__", "constructor", ECHO];

/** JSON texts, some of which cannot be produced from a value. */
const writtenValue = (texts: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.oneof(
    texts.map((value) => JSON.stringify(value)),
    fc.constantFrom("null", "true", "-0", "1e400", "{}", '"\\ud800"', '"\\u0000"', '"\\uDC00\\uD800"', "01"),
    fc.json({ maxDepth: 3 }),
  );

const hostileValue = (name: string) => writtenValue(name === "password" ? secretText : text);
const usualValue = (name: string) =>
  weighted(
    [9, (MEMBERS[name] ?? fc.constant(0)).map((value) => JSON.stringify(value))],
    [1, hostileValue(name)],
  );
const member = (name: string, values: fc.Arbitrary<string>) =>
  values.map((value) => `${JSON.stringify(name)}:${value}`);

/** An object with the members of a form, after unknown and repeated ones. */
const form = fc
  .tuple(
    fc.array(fc.oneof(...OTHER_NAMES.map((name) => member(name, hostileValue(name)))), { maxLength: 2 }),
    fc.oneof(...FORMS.map((names) => fc.tuple(...names.map((name) => member(name, usualValue(name)))))),
  )
  .map((members) => `{${members.flat().join(",")}}`);

const nested = fc
  .tuple(fc.constantFrom(["[", "]"], ['{"a":', "}"], ['{"title":', "}"]), fc.integer({ min: 1, max: 20_000 }))
  .map(([[open = "", close = ""], depth]) => `${open.repeat(depth)}1${close.repeat(depth)}`);

const broken = fc
  .tuple(form, fc.double({ min: 0, max: 1, noNaN: true }), fc.constantFrom("", "}", ",", "\0", "//"))
  .map(([whole, part, tail]) => whole.slice(0, Math.floor(whole.length * part)) + tail);

const utf8 = (written: string): Uint8Array => Buffer.from(written);

export const body: fc.Arbitrary<Uint8Array> = weighted(
  [120, form.map(utf8)],
  [20, writtenValue(secretText).map(utf8)],
  [20, broken.map(utf8)],
  [10, nested.map(utf8)],
  [10, fc.uint8Array({ maxLength: 200 })],
  [10, form.map((written) => Buffer.from(`\ufeff${written}`, "utf16le"))],
  [10, form.map((written) => gzipSync(written))],
  [10, form.map((written) => Buffer.concat([utf8(written), Buffer.from([0xff])]))],
  [1, fc.constantFrom(1, 100_000).map((excess) => Buffer.alloc(BODY_MAX_BYTES + excess, " "))],
);
