/** Passwords come from two prompts without echo or from one line of standard input; deletion asks for confirmation. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHasher } from "@latchkey/hashing";
import {
  DATABASES,
  type DatabaseSource,
  openSharedDatabase,
  type SharedDatabase,
} from "./support/databases.ts";
import { expectSentence, type Keystrokes, runOnTerminal, runTool } from "./support/tool.ts";

const CREATE = ["users", "create", "ada@example.com", "--username", "ada"];

let source: DatabaseSource;
beforeAll(async () => {
  source = await (DATABASES.libsql as () => Promise<DatabaseSource>)();
});
afterAll(() => source[Symbol.asyncDispose]());

const createOnTerminal = (shared: SharedDatabase, ...keystrokes: Keystrokes[]) =>
  runOnTerminal(CREATE, keystrokes, { env: { DATABASE_URL: shared.url } });

async function expectPassword({ database }: SharedDatabase, password: string): Promise<void> {
  await using hasher = createHasher({ workers: 1, kernel: "portable" });
  const user = await database.users.findByEmail("ada@example.com");
  expect(await hasher.verify(password, user?.hashedPassword ?? "")).toBe(true);
}

describe("from standard input", () => {
  test.each([
    ["a line with leading and trailing spaces", "  correct horse  \n", "  correct horse  "],
    ["128 characters of four bytes, with a Windows line end,", `${"😀".repeat(128)}\r\n`, "😀".repeat(128)],
  ])("%s is the password", async (_, input, password) => {
    await using shared = await openSharedDatabase(source);
    expect(await shared.tool(CREATE, input)).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^\{"level":"info".*"event":"user.registered".*\}\n$/),
    });
    await expectPassword(shared, password);
  });

  test.each([
    ["an empty line", "\n", "No password provided"],
    ["7 characters", "short12\n", "at least 8 characters"],
    ["two lines", "correct horse\nbattery staple\n", "only one line"],
    ["invalid UTF-8", Buffer.from("correct horse\xff", "latin1"), "invalid UTF-8"],
  ])("%s is rejected", async (_, input, message) => {
    await using shared = await openSharedDatabase(source);
    const { code, stdout, stderr } = await runTool(CREATE, { env: { DATABASE_URL: shared.url }, input });
    expect({ code, stdout }).toEqual({ code: 64, stdout: "" });
    expect(stderr).toContain(message);
    expectSentence(stderr);
    expect(await shared.database.users.findByEmail("ada@example.com")).toBeNull();
  });

  test("endless input is not read beyond the maximum length of a password", async () => {
    await using shared = await openSharedDatabase(source);
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
  test("it is typed twice, can be corrected and is never displayed", async () => {
    await using shared = await openSharedDatabase(source);
    const { code, screen } = await createOnTerminal(
      shared,
      ["Password: ", "correct hörsy\x7fe\r"],
      ["Repeat password: ", "correct hörse\r"],
    );
    expect(screen).toContain("ada@example.com");
    expect(screen).not.toContain("correct");
    expect(code).toBe(0);
    await expectPassword(shared, "correct hörse");
  });

  test("two different passwords are rejected", async () => {
    await using shared = await openSharedDatabase(source);
    const { code, screen } = await createOnTerminal(
      shared,
      ["Password: ", "correct horse\r"],
      ["Repeat password: ", "horse\r"],
    );
    expect(screen).toContain("The passwords do not match.");
    expect(code).toBe(64);
    expect(await shared.database.users.findByEmail("ada@example.com")).toBeNull();
  });

  test("a short password is asked for again, and the event is not printed", async () => {
    await using shared = await openSharedDatabase(source);
    const { code, screen } = await createOnTerminal(
      shared,
      ["Password: ", "horse\r"],
      ["at least 8 characters", "correct horse\r"],
      ["Repeat password: ", "correct horse\r"],
    );
    expect(screen).not.toContain("user.registered");
    expect(code).toBe(0);
    await expectPassword(shared, "correct horse");
  });

  test("Ctrl-C and Ctrl-D create no user", async () => {
    await using shared = await openSharedDatabase(source);
    expect((await createOnTerminal(shared, ["Password: ", "correct horse\x03"])).code).toBe(130);
    expect(
      (await createOnTerminal(shared, ["Password: ", "correct horse\r"], ["Repeat password: ", "\x04"])).code,
    ).toBe(64);
    expect(await shared.database.users.findByEmail("ada@example.com")).toBeNull();
  });

  test.each([
    ["y", 0],
    ["n", 1],
    ["", 1],
    ["\x04", 1],
    ["\x03", 130],
  ])("a deletion asks for confirmation, and the answer %p exits with %i", async (answer, exitCode) => {
    await using shared = await openSharedDatabase(source);
    await shared.database.users.create({ email: "ada@example.com", username: "ada", hashedPassword: "s$d" });
    const keys = answer < " " ? answer : `${answer}\r`;
    const args = ["users", "delete", "ada@example.com"];
    const { code, screen } = await runOnTerminal(args, [["[y/N] ", keys || "\r"]], {
      env: { DATABASE_URL: shared.url },
    });
    expect(screen).toContain("Delete ada@example.com (id 1, username ada) permanently?");
    expect(code).toBe(exitCode);
    expect((await shared.database.users.findById(1)) === null).toBe(exitCode === 0);
  });
});
