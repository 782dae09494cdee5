/** Which bodies return 422, how their issues are reported, and that no submitted value is returned. */
import { describe, expect, spyOn, test } from "bun:test";
import type { ValidationIssue } from "@latchkey/contracts";
import Type from "typebox";
import { validator } from "../../src/http/validator.ts";
import { newCredentials, shareService } from "../support/service.ts";

interface Rejection {
  readonly detail: ValidationIssue[];
}

/** Routes with a JSON body, a valid body for each, and its text members. */
const ROUTES = [
  { method: "POST", path: "/auth/register", good: newCredentials, texts: ["email", "username", "password"] },
  { method: "POST", path: "/auth/login", good: newCredentials, texts: ["email", "password"] },
  {
    method: "PATCH",
    path: "/auth/me",
    good: () => ({}),
    texts: ["username", "password", "current_password"],
  },
  { method: "POST", path: "/todos", good: () => ({ title: "x" }), texts: ["title"] },
  { method: "PATCH", path: "/todos/1", good: () => ({}), texts: ["title"] },
] as const;

/** Text that fits every length and, without `unwanted`, every pattern. */
const textWith = (name: string, unwanted: string): string =>
  name === "email" ? `per${unwanted}son@example.org` : `long enough ${unwanted}`;

const shared = shareService();

describe.each(ROUTES)("$method $path", ({ method, path, good, texts }) => {
  const start = async () => {
    const { token } = await shared().createUser();
    await shared().call("POST", "/todos", { body: { title: "the first" } });
    const send = (body: unknown, type = "application/json") =>
      shared().call(method, path, { body, token, headers: { "content-type": type } });
    return {
      send,
      issuesOf: async (...sent: Parameters<typeof send>) =>
        (await send(...sent)).expect<Rejection>(422).detail,
    };
  };

  test("U+0000 and lone surrogates in any text return a 422 that names the member", async () => {
    const { issuesOf } = await start();
    for (const name of texts) {
      for (const unwanted of ["\\u0000", "\\ud800", "\\udfff", "\\udc00\\ud83d", "\\ud83d\\ud83d\\ude00"]) {
        const body = JSON.stringify({ ...good(), [name]: textWith(name, "HERE") }).replace("HERE", unwanted);
        expect(await issuesOf(body)).toMatchObject([{ loc: ["body", name] }]);
      }
    }
  });

  test("a number, a boolean, null, an array or an object instead of text returns 422", async () => {
    const { issuesOf } = await start();
    for (const name of texts) {
      for (const value of [0, 12345678, 1.5, true, null, ["long enough"], { toString: "long enough" }])
        expect(await issuesOf({ ...good(), [name]: value })).toMatchObject([
          { loc: ["body", name], type: "string_type" },
        ]);
    }
  });

  test("malformed JSON, an empty body and invalid UTF-8 return json_invalid, and JSON that is not an object another 422", async () => {
    const { issuesOf } = await start();
    for (const body of ["null", "true", "0", '"text"', "[]", '[{"email":"a@b.c"}]'])
      expect(await issuesOf(body)).toMatchObject([{ loc: ["body"] }]);
    const bodies = [
      ...["", "{", "}", "{'title':1}", '{"title":"x"', '{"title":"x",}', "undefined", "NaN", '{"a":"\n"}'],
      ...['{"a":01}', '{"a":1}{"b":2}', "<a/>", "a=b", '/**/{"a":1}', `{"a":"\\x41"}`, `{"a":"\\ud8"}`],
      Buffer.from('{"a":"\xc3("}', "latin1"),
      Buffer.from('{"a":"\xed\xa0\x80"}', "latin1"),
      Buffer.from("\ufeff{}", "utf16le"),
      Buffer.from([0x1f, 0x8b, 0x08, 0x00]),
    ];
    for (const body of bodies)
      expect(await issuesOf(body)).toMatchObject([{ loc: ["body"], type: "json_invalid" }]);
  });

  test("a body of another content type returns content_type, and every JSON content type is accepted", async () => {
    const { send, issuesOf } = await start();
    const body = JSON.stringify(good());
    for (const type of [
      ...["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"],
      ...["application/jsonp", "application/xml", "text/json;x=application/json"],
    ])
      expect(await issuesOf(body, type)).toMatchObject([{ loc: ["body"], type: "content_type" }]);
    const types = ["application/json; charset=utf-8", "Application/JSON", "application/merge-patch+json"];
    for (const type of types) expect((await send(JSON.stringify(good()), type)).status).not.toBe(422);
  });

  test("a body with a content coding returns content_encoding, also without a token", async () => {
    for (const coding of ["gzip", "br", "identity, gzip", "x"]) {
      const headers = { "content-type": "application/json", "content-encoding": coding };
      const body = Bun.gzipSync(JSON.stringify(good()));
      const { detail } = (await shared().call(method, path, { body, headers })).expect<Rejection>(422);
      expect(detail).toMatchObject([{ loc: ["body"], type: "content_encoding" }]);
    }
    const { token } = await shared().createUser();
    const headers = { "content-encoding": "Identity" };
    expect((await shared().call(method, path, { body: good(), token, headers })).status).not.toBe(422);
  });

  test("__proto__, constructor and inherited names are not read as members", async () => {
    const { send } = await start();
    const hidden = JSON.stringify({ ...good(), [texts[0]]: 5, polluted: true });
    const empty = await send({});
    for (const name of ["__proto__", "constructor", "prototype"]) {
      const { status, text } = await send(`{"${name}":${hidden}}`);
      expect([name, status, text]).toEqual([name, empty.status, empty.text]);
    }
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  test("no part of a rejected value and no unknown member name is returned", async () => {
    const { send } = await start();
    const secret = "Hunter2Hunter2";
    const values = [`${secret}\u0000`, [secret], { [secret]: secret }, { a: { [secret]: [secret] } }];
    const bodies = [
      ...texts.flatMap((name) => values.map((value) => ({ ...good(), [name]: value }))),
      ...[`{"${secret}":`, `"${secret}"`, `["${secret}"]`, secret],
    ];
    for (const body of bodies) {
      const { status, text, headers } = await send(body);
      expect(status).toBe(422);
      expect(text + JSON.stringify([...headers])).not.toInclude("unter2");
    }
    expect((await send(JSON.stringify(good()), `text/${secret}`)).text).not.toInclude("unter2");
  });
});

const issuesOf = async (body: object) =>
  (await shared().call("POST", "/auth/register", { body })).expect<Rejection>(422).detail;

test("a text that is too long is checked against no pattern, and its other issues are not reported", async () => {
  const email = `${"@".repeat(300)} `.repeat(300);
  const spies = (["test", "exec"] as const).map((method) => spyOn(RegExp.prototype, method));
  const issues = await issuesOf({ email, username: "ada", password: "long enough" });
  const texts = spies.flatMap(({ mock }) => mock.calls.map(([text]) => String(text)));
  for (const spy of spies) spy.mockRestore();
  expect(texts.filter((text) => text.includes("@@"))).toEqual([]);
  expect(issues).toEqual([
    { loc: ["body", "email"], msg: "must be at most 254 characters long", type: "string_too_long" },
  ]);
});

test("every issue of a body is reported, each with loc, msg and type", async () => {
  expect(await issuesOf({ email: "not an e-mail", username: "", password: "short" })).toEqual([
    { loc: ["body", "email"], msg: "is not a valid e-mail address", type: "string_pattern_mismatch" },
    { loc: ["body", "username"], msg: "must not be empty", type: "string_too_short" },
    { loc: ["body", "password"], msg: "must be at least 8 characters long", type: "string_too_short" },
  ]);
  const missing = ["email", "username", "password"].map((name) => ({ loc: ["body", name], type: "missing" }));
  expect(await issuesOf({})).toMatchObject(missing);
});

test("a member of a request that can be null is rejected at the start of the service, not at a request", () => {
  const schema = Type.Object({ title: Type.Optional(Type.Union([Type.String(), Type.Null()])) });
  expect(() => validator(schema, "body")).toThrow("title");
});
