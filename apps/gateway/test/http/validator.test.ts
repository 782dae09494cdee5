/** Which bodies return 422, how their issues are reported, and that no submitted value is returned. */
import { describe, expect, spyOn, test } from "bun:test";
import type { ValidationIssue } from "@latchkey/contracts";
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
    const service = shared();
    const { token } = await service.createUser();
    await service.call("POST", "/todos", { body: { title: "the first" } });
    const send = (body: unknown, type = "application/json") =>
      service.call(method, path, { body, token, headers: { "content-type": type } });
    return { send };
  };

  test("U+0000 and lone surrogates in any text return a 422 that names the member", async () => {
    const service = await start();
    for (const name of texts) {
      for (const unwanted of ["\\u0000", "\\ud800", "\\udfff", "\\udc00\\ud83d", "\\ud83d\\ud83d\\ude00"]) {
        const members = { ...good(), [name]: textWith(name, "HERE") };
        const response = await service.send(JSON.stringify(members).replace("HERE", unwanted));
        expect([unwanted, response.status, response.body]).toMatchObject([
          unwanted,
          422,
          { detail: [{ loc: ["body", name] }] },
        ]);
      }
    }
  });

  test("a number, a boolean, null, an array or an object instead of text returns 422", async () => {
    const service = await start();
    for (const name of texts) {
      for (const value of [0, 12345678, 1.5, true, null, ["long enough"], { toString: "long enough" }]) {
        const response = await service.send({ ...good(), [name]: value });
        expect([name, value, response.status]).toEqual([name, value, 422]);
        expect(response.body).toMatchObject({ detail: [{ loc: ["body", name], type: "string_type" }] });
      }
    }
  });

  test("a body that is JSON but not an object returns 422", async () => {
    const service = await start();
    for (const body of ["null", "true", "0", '"text"', "[]", '[{"email":"a@b.c"}]']) {
      const response = await service.send(body);
      expect([body, response.status, response.body]).toMatchObject([
        body,
        422,
        { detail: [{ loc: ["body"] }] },
      ]);
    }
  });

  test("malformed JSON, an empty body and invalid UTF-8 return json_invalid", async () => {
    const service = await start();
    const bodies = [
      ...["", "{", "}", "{'title':1}", '{"title":"x"', '{"title":"x",}', "undefined", "NaN", '{"a":"\n"}'],
      ...['{"a":01}', '{"a":1}{"b":2}', "<a/>", "a=b", '/**/{"a":1}', `{"a":"\\x41"}`, `{"a":"\\ud8"}`],
      new Uint8Array([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xc3, 0x28, 0x22, 0x7d]),
      new Uint8Array([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x7d]),
      new Uint8Array([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]),
      new Uint8Array([0x1f, 0x8b, 0x08, 0x00]),
    ];
    for (const body of bodies) {
      const response = await service.send(body);
      const issue = { loc: ["body"], msg: expect.any(String), type: "json_invalid" };
      expect([body, response.status, response.body]).toEqual([
        body,
        422,
        { detail: [issue], code: "INVALID_REQUEST" },
      ]);
    }
  });

  test("a body of another content type returns content_type, and every JSON content type is accepted", async () => {
    const service = await start();
    const body = JSON.stringify(good());
    const others = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"];
    for (const type of [...others, "application/jsonp", "application/xml", "text/json;x=application/json"]) {
      const response = await service.send(body, type);
      const issue = { loc: ["body"], msg: expect.any(String), type: "content_type" };
      expect([type, response.status, response.body]).toEqual([
        type,
        422,
        { detail: [issue], code: "INVALID_REQUEST" },
      ]);
    }
    for (const type of [
      "application/json; charset=utf-8",
      "Application/JSON",
      "application/merge-patch+json",
    ]) {
      expect((await service.send(JSON.stringify(good()), type)).status).not.toBe(422);
    }
  });

  test("__proto__, constructor and inherited names are not read as members", async () => {
    const service = await start();
    const bad = JSON.stringify({ ...good(), [texts[0]]: 5 });
    for (const name of ["__proto__", "constructor", "prototype"]) {
      const hidden = await service.send(`{"${name}":${bad}}`);
      const same = await service.send({});
      expect([name, hidden.status, hidden.text]).toEqual([name, same.status, same.text]);
      expect((await service.send(`{"${name}":{"polluted":true}}`)).text).not.toContain("polluted");
    }
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  test("no part of a rejected value and no unknown member name is returned", async () => {
    const service = await start();
    const secret = "Hunter2Hunter2";
    const values = [`${secret}\u0000`, [secret], { [secret]: secret }, { a: { [secret]: [secret] } }];
    const bodies = [
      ...texts.flatMap((name) => values.map((value) => ({ ...good(), [name]: value }))),
      `{"${secret}":`,
      `"${secret}"`,
      `["${secret}"]`,
      secret,
    ];
    for (const body of bodies) {
      const { status, text, headers } = await service.send(body);
      expect(status).toBe(422);
      expect(text + JSON.stringify([...headers])).not.toInclude("unter2");
    }
    expect((await service.send(JSON.stringify(good()), `text/${secret}`)).text).not.toInclude("unter2");
  });
});

test("a text that is too long is checked against no pattern, and its other issues are not reported", async () => {
  const service = shared();
  const email = `${"@".repeat(300)} `.repeat(300);
  const spies = (["test", "exec"] as const).map((method) => spyOn(RegExp.prototype, method));
  const response = await service.call("POST", "/auth/register", {
    body: { email, username: "", password: "short" },
  });
  const texts = spies.flatMap(({ mock }) => mock.calls.map(([text]) => String(text)));
  for (const spy of spies) spy.mockRestore();
  expect(texts.filter((text) => text.includes("@@"))).toEqual([]);
  expect(response.text).not.toInclude("@@");
  expect(response.expect<Rejection>(422).detail).toEqual([
    { loc: ["body", "email"], msg: "must be at most 254 characters long", type: "string_too_long" },
    { loc: ["body", "username"], msg: "must not be empty", type: "string_too_short" },
    { loc: ["body", "password"], msg: "must be at least 8 characters long", type: "string_too_short" },
  ]);
});

test("every issue of a body is reported, each with loc, msg and type", async () => {
  const service = shared();
  const body = { email: "not an e-mail", username: "", password: "short" };
  const { detail } = (await service.call("POST", "/auth/register", { body })).expect<Rejection>(422);
  expect(detail.map(({ loc, type }) => [loc, type])).toEqual([
    [["body", "email"], "string_pattern_mismatch"],
    [["body", "username"], "string_too_short"],
    [["body", "password"], "string_too_short"],
  ]);
  for (const issue of detail) expect(Object.keys(issue).sort()).toEqual(["loc", "msg", "type"]);
  expect(detail.map(({ msg }) => msg)).toEqual([
    "is not a valid e-mail address",
    "must not be empty",
    "must be at least 8 characters long",
  ]);
  const missing = (await service.call("POST", "/auth/register", { body: {} })).expect<Rejection>(422);
  expect(missing.detail.map(({ loc, type }) => [loc, type])).toEqual(
    ["email", "username", "password"].map((name) => [["body", name], "missing"]),
  );
});
