/** What is refused of a body, how its faults are told, and that no submitted value comes back. */
import { describe, expect, test } from "bun:test";
import type { ValidationIssue } from "@latchkey/contracts";
import { eachDatabase, newCredentials } from "../support/service.ts";

interface Rejection {
  readonly detail: ValidationIssue[];
}

/** Routes with a JSON body, a body that each accepts, and the text members of it. */
const ROUTES = [
  { method: "POST", path: "/auth/register", good: newCredentials, texts: ["email", "username", "password"] },
  { method: "POST", path: "/auth/login", good: newCredentials, texts: ["email", "password"] },
  { method: "PATCH", path: "/auth/me", good: () => ({}), texts: ["username", "password"] },
  { method: "POST", path: "/todos", good: () => ({ title: "x" }), texts: ["title"] },
  { method: "PATCH", path: "/todos/1", good: () => ({}), texts: ["title"] },
] as const;

/** Text that fits every length and, but for `unwanted`, every pattern. */
const textWith = (name: string, unwanted: string): string =>
  name === "email" ? `per${unwanted}son@example.org` : `long enough ${unwanted}`;

eachDatabase((startService) => {
  describe.each(ROUTES)("$method $path", ({ method, path, good, texts }) => {
    const start = async () => {
      const service = await startService();
      const { token } = await service.person();
      await service.call("POST", "/todos", { body: { title: "the first" } });
      const send = (body: unknown, type = "application/json") =>
        service.call(method, path, { body, token, headers: { "content-type": type } });
      return { send, [Symbol.asyncDispose]: () => service[Symbol.asyncDispose]() };
    };

    test("U+0000 and lone surrogates in any text are a 422 that names the member", async () => {
      await using service = await start();
      for (const name of texts) {
        for (const unwanted of ["\\u0000", "\\ud800", "\\udfff", "\\udc00\\ud83d", "\\ud83d\\ud83d\\ude00"]) {
          const members = { ...good(), [name]: textWith(name, "HERE") };
          const answer = await service.send(JSON.stringify(members).replace("HERE", unwanted));
          expect([unwanted, answer.status, answer.body]).toMatchObject([
            unwanted,
            422,
            { detail: [{ loc: ["body", name] }] },
          ]);
        }
      }
    });

    test("text that is a number, a boolean, null, an array or an object is a 422", async () => {
      await using service = await start();
      for (const name of texts) {
        for (const value of [0, 12345678, 1.5, true, null, ["long enough"], { toString: "long enough" }]) {
          const answer = await service.send({ ...good(), [name]: value });
          expect([name, value, answer.status]).toEqual([name, value, 422]);
          expect(answer.body).toMatchObject({ detail: [{ loc: ["body", name], type: "string_type" }] });
        }
      }
    });

    test("a body that is JSON but no object is a 422", async () => {
      await using service = await start();
      for (const body of ["null", "true", "0", '"text"', "[]", '[{"email":"a@b.c"}]']) {
        const answer = await service.send(body);
        expect([body, answer.status, answer.body]).toMatchObject([
          body,
          422,
          { detail: [{ loc: ["body"] }] },
        ]);
      }
    });

    test("no JSON at all, no body, or bytes that are no UTF-8 is a json_invalid", async () => {
      await using service = await start();
      const bodies = [
        ...[
          "",
          " ",
          "{",
          "}",
          "{'title':1}",
          '{"title":"x"',
          '{"title":"x",}',
          "undefined",
          "NaN",
          '{"a":"\n"}',
        ],
        ...['{"a":01}', '{"a":1}{"b":2}', "<a/>", "a=b", '/**/{"a":1}', `{"a":"\\x41"}`, `{"a":"\\ud8"}`],
        new Uint8Array([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xc3, 0x28, 0x22, 0x7d]),
        new Uint8Array([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x7d]),
        new Uint8Array([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]),
        new Uint8Array([0x1f, 0x8b, 0x08, 0x00]),
      ];
      for (const body of bodies) {
        const answer = await service.send(body);
        const issue = { loc: ["body"], msg: expect.any(String), type: "json_invalid" };
        expect([body, answer.status, answer.body]).toEqual([body, 422, { detail: [issue] }]);
      }
    });

    test("a body of another content type is a content_type fault, JSON by any of its names is not", async () => {
      await using service = await start();
      const body = JSON.stringify(good());
      const others = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"];
      for (const type of [
        ...others,
        "application/jsonp",
        "application/xml",
        "json",
        "text/json;x=application/json",
      ]) {
        const answer = await service.send(body, type);
        const issue = { loc: ["body"], msg: expect.any(String), type: "content_type" };
        expect([type, answer.status, answer.body]).toEqual([type, 422, { detail: [issue] }]);
      }
      for (const type of [
        "application/json; charset=utf-8",
        "Application/JSON",
        "application/merge-patch+json",
      ]) {
        expect((await service.send(JSON.stringify(good()), type)).status).not.toBe(422);
      }
    });

    test.each([20_000, 170_000])(
      "%d values inside each other are refused or ignored like any other",
      async (depth) => {
        await using service = await start();
        const objects = `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
        const arrays = `${"[".repeat(depth)}${"]".repeat(depth)}`;
        const empty = await service.send({});
        expect((await service.send(arrays)).status).toBe(422);
        expect((await service.send(objects)).status).toBe(empty.status);
        for (const value of [objects, arrays]) {
          for (const name of texts) {
            const body = JSON.stringify({ ...good(), [name]: 0 }).replace(
              `"${name}":0`,
              `"${name}":${value}`,
            );
            expect((await service.send(body)).status).toBe(422);
          }
          const ignored = await service.send(
            JSON.stringify({ ...good(), x: 0 }).replace('"x":0', `"x":${value}`),
          );
          expect(ignored.status).toBe((await service.send(good())).status);
        }
      },
    );

    test("__proto__, constructor and inherited names give no members", async () => {
      await using service = await start();
      const bad = JSON.stringify({ ...good(), [texts[0]]: 5 });
      for (const name of ["__proto__", "constructor", "prototype"]) {
        const hidden = await service.send(`{"${name}":${bad}}`);
        const same = await service.send({});
        expect([name, hidden.status, hidden.text]).toEqual([name, same.status, same.text]);
        expect((await service.send(`{"${name}":{"polluted":true}}`)).text).not.toContain("polluted");
      }
      expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    });

    test("of a member given twice the last counts", async () => {
      await using service = await start();
      const [name] = texts;
      const members = JSON.stringify(good()).slice(1, -1).replace(`"${name}"`, `"unused"`);
      const rest = members === "" ? "" : `${members},`;
      const [fine, bad] = [JSON.stringify(textWith(name, "")), "5"];
      expect((await service.send(`{${rest}"${name}":${fine},"${name}":${bad}}`)).status).toBe(422);
      expect((await service.send(`{${rest}"${name}":${bad},"${name}":${fine}}`)).status).not.toBe(422);
    });

    test("no part of a refused value comes back, nor does a member's unknown name", async () => {
      await using service = await start();
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

  test("a text that is too long does not come back either", async () => {
    await using service = await startService();
    const long = "Hunter2".repeat(100);
    const body = { email: `${long}@example.org`, username: long, password: long };
    const answer = await service.call("POST", "/auth/register", { body });
    expect(answer.expect<Rejection>(422).detail.map(({ type }) => type)).toEqual(
      Array(3).fill("string_too_long"),
    );
    expect(answer.text).not.toInclude("unter2");
  });

  test("every fault of a body is told at once, each with loc, msg and type", async () => {
    await using service = await startService();
    const body = { email: "no e-mail", username: "", password: "short" };
    const { detail } = (await service.call("POST", "/auth/register", { body })).expect<Rejection>(422);
    expect(detail.map(({ loc, type }) => [loc, type])).toEqual([
      [["body", "email"], "string_pattern_mismatch"],
      [["body", "username"], "string_too_short"],
      [["body", "password"], "string_too_short"],
    ]);
    for (const issue of detail) {
      expect(Object.keys(issue).sort()).toEqual(["loc", "msg", "type"]);
      expect(issue.msg.length).toBeGreaterThan(5);
    }
    const missing = (await service.call("POST", "/auth/register", { body: {} })).expect<Rejection>(422);
    expect(missing.detail.map(({ loc, type }) => [loc, type])).toEqual(
      ["email", "username", "password"].map((name) => [["body", name], "missing"]),
    );
  });
});
