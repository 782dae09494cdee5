/** Passwords: typed twice without echo on a terminal, else one line of standard input; and the question before a deletion. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHasher } from "@latchkey/hashing";
import { openShared, type Shared, SITES, type Site } from "./databases.ts";
import { expectSentence, type Keystrokes, runOnTerminal, runTool } from "./tool.ts";

const CREATE = ["users", "create", "ada@example.com", "--username", "ada"];

let site: Site;
beforeAll(async () => {
  site = await (SITES.libsql as () => Promise<Site>)();
});
afterAll(() => site[Symbol.asyncDispose]());

const createOnTerminal = (shared: Shared, ...keystrokes: Keystrokes[]) =>
  runOnTerminal(CREATE, keystrokes, { env: { DATABASE_URL: shared.url } });

async function expectPassword({ database }: Shared, password: string): Promise<void> {
  await using hasher = createHasher({ workers: 1 });
  const user = await database.users.findByEmail("ada@example.com");
  expect(await hasher.verify(password, user?.hashedPassword ?? "")).toBe(true);
}

describe("from standard input", () => {
  test.each([
    ["a line", "correct horse\n", "correct horse"],
    ["a line without its end", "correct horse", "correct horse"],
    ["a line that ends as on Windows", "correct horse\r\n", "correct horse"],
    ["blanks, which are kept", "  correct horse  \n", "  correct horse  "],
    ["any characters", "pä$$ wörd 😀\n", "pä$$ wörd 😀"],
    ["128 characters of four bytes", `${"😀".repeat(128)}\r\n`, "😀".repeat(128)],
  ])("%s is the password", async (_, input, password) => {
    await using shared = await openShared(site);
    expect(await shared.tool(CREATE, input)).toMatchObject({ code: 0, stderr: "" });
    await expectPassword(shared, password);
  });

  test.each([
    ["nothing", "", "No password came"],
    ["an empty line", "\n", "No password came"],
    ["7 characters", "short12\n", "fewer than 8 characters"],
    ["129 characters", "x".repeat(129), "more than 128 characters"],
    ["two lines", "correct horse\nbattery staple\n", "only line"],
    ["U+0000", "correct\u0000horse", "not accepted"],
    ["bytes that are no UTF-8", Buffer.from("correct horse\xff", "latin1"), "not UTF-8"],
  ])("%s is refused", async (_, input, says) => {
    await using shared = await openShared(site);
    const { code, stdout, stderr } = await runTool(CREATE, { env: { DATABASE_URL: shared.url }, input });
    expect({ code, stdout }).toEqual({ code: 64, stdout: "" });
    expect(stderr).toContain(says);
    expectSentence(stderr);
    expect(await shared.database.users.findByEmail("ada@example.com")).toBeNull();
  });

  test("an input without an end is left after what a password can hold", async () => {
    await using shared = await openShared(site);
    const endless = Bun.spawn(["yes", "correct horse"], { stdout: "pipe" });
    const main = new URL("../src/main.ts", import.meta.url).pathname;
    await using child = Bun.spawn([process.execPath, main, ...CREATE], {
      env: { PATH: process.env.PATH ?? "", DATABASE_URL: shared.url },
      stdin: endless.stdout,
      stderr: "pipe",
    });
    expect(await new Response(child.stderr).text()).toContain("too long");
    expect(await child.exited).toBe(64);
    endless.kill();
    await endless.exited;
  });
});

describe("on a terminal", () => {
  test("it is typed twice, can be corrected, and is never shown", async () => {
    await using shared = await openShared(site);
    const { code, screen } = await createOnTerminal(
      shared,
      ["Password: ", "correct hörsy\x7fe\r"],
      ["again: ", "correct hörse\r"],
    );
    expect(screen).toContain("ada@example.com");
    expect(screen).not.toContain("correct");
    expect(code).toBe(0);
    await expectPassword(shared, "correct hörse");
  });

  test("two that differ are refused", async () => {
    await using shared = await openShared(site);
    const { code, screen } = await createOnTerminal(
      shared,
      ["Password: ", "correct horse\r"],
      ["again: ", "horse\r"],
    );
    expect(screen).toContain("The two passwords differ.");
    expect(code).toBe(64);
    expect(await shared.database.users.findByEmail("ada@example.com")).toBeNull();
  });

  test("one that is too short is refused before it is typed again", async () => {
    await using shared = await openShared(site);
    const { code, screen } = await createOnTerminal(shared, ["Password: ", "horse\r"]);
    expect(screen).toContain("fewer than 8 characters");
    expect(screen).not.toContain("again");
    expect(code).toBe(64);
  });

  test("Ctrl-C and Ctrl-D leave without an account", async () => {
    await using shared = await openShared(site);
    expect((await createOnTerminal(shared, ["Password: ", "correct horse\x03"])).code).toBe(130);
    expect(
      (await createOnTerminal(shared, ["Password: ", "correct horse\r"], ["again: ", "\x04"])).code,
    ).toBe(64);
    expect(await shared.database.users.findByEmail("ada@example.com")).toBeNull();
  });

  test("a taken e-mail address is told before a password is asked for", async () => {
    await using shared = await openShared(site);
    await shared.tool(CREATE, "correct horse");
    const { code, screen } = await createOnTerminal(shared);
    expect(screen).toContain("already exists");
    expect(screen).not.toContain("Password");
    expect(code).toBe(1);
  });

  test.each([
    ["y", 0],
    ["YES", 0],
    ["n", 1],
    ["", 1],
    ["yep", 1],
    ["\x04", 1],
    ["\x03", 130],
  ])("a deletion is asked about, and %p ends with exit code %i", async (answer, exitCode) => {
    await using shared = await openShared(site);
    await shared.tool(CREATE, "correct horse");
    const keys = answer < " " ? answer : `${answer}\r`;
    const args = ["users", "delete", "ada@example.com"];
    const { code, screen } = await runOnTerminal(args, [["[y/N] ", keys || "\r"]], {
      env: { DATABASE_URL: shared.url },
    });
    expect(screen).toContain("Delete ada@example.com (id 1, username ada) for good?");
    expect(code).toBe(exitCode);
    expect((await shared.database.users.findById(1)) === null).toBe(exitCode === 0);
  });
});
