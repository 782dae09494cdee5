/** Hostile values: texts, JSON and bytes that have broken services, combined with random ones. */
import { gzipSync } from "node:zlib";
import { BODY_MAX_BYTES } from "@latchkey/contracts";
import fc from "fast-check";

/** Part of everything that is secret; no response can contain it. It is not a valid request id. */
export const SECRET = "pa55~of~the~fuzzer";
/** Part of everything else that an error must not repeat. */
export const ECHO = "echo~of~the~fuzzer";

const NASTY = [
  "",
  " ",
  "\0",
  "\ud800",
  "\ufeff",
  "\u202e",
  "0",
  "-1",
  "1",
  "1e309",
  "9007199254740993",
  "null",
  "NaN",
  "__proto__",
  "constructor",
  "toString",
  "' or 1=1; drop table users; --",
  "{{7*7}}#{7*7}<%= 7*7 %>",
  "<script>alert(1)</script>",
  "\r\nX-Injected: 1\r\n\r\n",
  "%0d%0aX-Injected:%201",
  "\u560d\u560aX-Injected: 1",
  "../../../../etc/passwd",
  "%00",
  "%s%n%x",
  "a".repeat(33),
  "a".repeat(300),
  "💣".repeat(129),
];

export const text = (): fc.Arbitrary<string> =>
  fc.oneof(
    fc.constantFrom(...NASTY),
    fc.constantFrom(...NASTY).map((nasty) => ECHO + nasty),
    fc.string({ unit: "binary", maxLength: 40 }),
    fc.string({ unit: "grapheme", maxLength: 40 }),
  );

export const secretText = (): fc.Arbitrary<string> =>
  fc.constantFrom(...NASTY).map((nasty) => SECRET + nasty);

/** Valid values by member name. */
const MEMBERS: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  email: fc.nat(30).map((number) => `fuzz${number}@example.org`),
  username: fc.nat(30).map((number) => `fuzz${number}`),
  password: fc.constantFrom(SECRET, `another ${SECRET}`),
  title: fc.constantFrom("Buy milk", "x"),
  completed: fc.boolean(),
};
const NAMES = Object.keys(MEMBERS);
const FORMS = [["email", "username", "password"], ["email", "password"], ["username", "password"], ["title"]];

/** A hostile member as JSON text: some cannot be produced from a value. */
const hostileMember = (name: string): fc.Arbitrary<string> =>
  writtenValue(name === "password" ? secretText() : text()).map(
    (value) => `${JSON.stringify(name)}:${value}`,
  );

const writtenValue = (texts: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.oneof(
    texts.map((value) => JSON.stringify(value)),
    fc.constantFrom("null", "true", "-0", "1e400", "{}", '"\\ud800"', '"\\u0000"', '"\\uDC00\\uD800"', "01"),
    fc.json({ maxDepth: 3 }),
  );

const member = (name: string): fc.Arbitrary<string> =>
  fc.oneof(
    {
      weight: 9,
      arbitrary: (MEMBERS[name] ?? fc.constant(0)).map(
        (value) => `${JSON.stringify(name)}:${JSON.stringify(value)}`,
      ),
    },
    { weight: 1, arbitrary: hostileMember(name) },
  );

/** Unknown members and repeated ones. */
const otherMembers = (): fc.Arbitrary<string[]> =>
  fc.array(fc.oneof(...[...NAMES, "id", "is_active", "__proto__", "constructor", ECHO].map(hostileMember)), {
    maxLength: 2,
  });

const form = (): fc.Arbitrary<string> =>
  fc
    .tuple(fc.oneof(...FORMS.map((names) => fc.tuple(...names.map(member)))), otherMembers())
    .map(([members, others]) => `{${[...others, ...members].join(",")}}`);

const nested = (): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.constantFrom(["[", "]"], ['{"a":', "}"], ['{"title":', "}"]),
      fc.integer({ min: 1, max: 20_000 }),
    )
    .map(([[open = "", close = ""], depth]) => `${open.repeat(depth)}1${close.repeat(depth)}`);

const broken = (): fc.Arbitrary<string> =>
  fc
    .tuple(form(), fc.double({ min: 0, max: 1, noNaN: true }), fc.constantFrom("", "}", ",", "\0", "//"))
    .map(([whole, part, tail]) => whole.slice(0, Math.floor(whole.length * part)) + tail);

const utf8 = (written: string): Uint8Array => Buffer.from(written);

/** One byte over the limit, and far over it. */
const tooLarge = (): fc.Arbitrary<Uint8Array> =>
  fc.constantFrom(BODY_MAX_BYTES + 1, BODY_MAX_BYTES + 100_000).map((size) => Buffer.alloc(size, " "));

export const body = (): fc.Arbitrary<Uint8Array> =>
  fc.oneof(
    { weight: 120, arbitrary: form().map(utf8) },
    { weight: 20, arbitrary: writtenValue(secretText()).map(utf8) },
    { weight: 20, arbitrary: broken().map(utf8) },
    { weight: 10, arbitrary: nested().map(utf8) },
    { weight: 10, arbitrary: fc.uint8Array({ maxLength: 200 }) },
    { weight: 10, arbitrary: form().map((written) => Buffer.from(`\ufeff${written}`, "utf16le")) },
    { weight: 10, arbitrary: form().map((written) => gzipSync(written)) },
    { weight: 10, arbitrary: form().map((written) => Buffer.concat([utf8(written), Buffer.from([0xff])])) },
    { weight: 1, arbitrary: tooLarge() },
  );
