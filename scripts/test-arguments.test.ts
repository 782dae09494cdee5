import { describe, expect, test } from "bun:test";
import { parseArguments } from "./test-arguments.ts";

const parse = (...args: readonly string[]) =>
  parseArguments(args, {
    root: "/checkout",
    folders: ["apps/gateway", "packages/mail"],
    exists: (path) => !path.includes("missing"),
  });

describe("the arguments of the test command", () => {
  test("are packages, files, or flags of turbo", () => {
    const { isFull, selected } = parse("--full", "packages/mail/", "apps/gateway/test/a.test.ts");
    expect(isFull).toBe(true);
    expect([...selected]).toEqual([
      ["packages/mail", []],
      ["apps/gateway", ["test/a.test.ts"]],
    ]);
    expect(parse("--full", "--filter=...[HEAD]").turboFlags).toEqual(["--filter=...[HEAD]"]);
  });

  test.each([["packages/missing"], ["packages/mail/missing.test.ts"], ["packages/mailer"], ["docs"]])(
    "cannot be %s, which would run nothing",
    (argument) => expect(() => parse(argument)).toThrow(argument),
  );
});
