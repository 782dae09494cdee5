/** Passwords come from two prompts without echo or from one line of standard input; deletion asks for confirmation. */
import { describe, expect, test } from "bun:test";
import { runProcess } from "@latchkey/testing/run-process";
import { EMAIL, openSharedDatabase } from "./support/shared-database.ts";
import { expectSentence, type Keystrokes, MAIN, runOnTerminal, runTool, startTool } from "./support/tool.ts";

const CREATE = ["users", "create", EMAIL, "--username", "ada"];

describe("from standard input", () => {
  test.each([
    [
      "a line of a pipe with leading and trailing spaces",
      "  correct horse  \n",
      "  correct horse  ",
      startTool,
    ],
    [
      "128 characters of four bytes, with a Windows line end,",
      `${"😀".repeat(128)}\r\n`,
      "😀".repeat(128),
      runTool,
    ],
  ])("%s is the password", async (_, input, password, run) => {
    await using shared = await openSharedDatabase();
    expect(await run(CREATE, { env: shared.env, input })).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^\{"level":"info".*"event":"user.registered".*\}\n$/),
    });
    expect(await shared.canLogIn(password)).toBe(true);
  });

  test.each([
    ["an empty line", "\n", "No password provided"],
    ["7 characters", "short12\n", "at least 8 characters"],
    ["two lines", "correct horse\ncorrect horse\n", "once, in one line"],
    ["invalid UTF-8", Buffer.from("correct horse\xff", "latin1"), "invalid UTF-8"],
  ])("%s is rejected", async (_, input, message) => {
    await using shared = await openSharedDatabase();
    const { code, stdout, stderr } = await shared.tool(CREATE, input);
    expect({ code, stdout }).toEqual({ code: 64, stdout: "" });
    expect(stderr).toContain(message);
    expectSentence(stderr);
    expect(await shared.database.users.findByEmail(EMAIL)).toBeNull();
  });

  test("the rules of the service for new passwords apply", async () => {
    await using shared = await openSharedDatabase();
    const list = `${shared.folder}/list`;
    await Bun.write(list, "correct horse\n");
    for (const [password, rules, code, message] of [
      ["short horse", { PASSWORD_MIN_LENGTH: "12" }, 64, "at least 12 characters"],
      ["Correct horse", { PASSWORD_BLOCKLIST: list }, 64, "too common"],
      ["Correct horse", { PASSWORD_BLOCKLIST: "/no/such/file" }, 78, "PASSWORD_BLOCKLIST"],
    ] as const) {
      const rejected = await runTool(CREATE, { env: { ...shared.env, ...rules }, input: `${password}\n` });
      expect(rejected).toMatchObject({ code, stderr: expect.stringContaining(message) });
    }
  });

  test("endless input is not read beyond the maximum length of a password", async () => {
    await using shared = await openSharedDatabase();
    const endless = Bun.spawn(["yes", "correct horse"], { stdout: "pipe" });
    const command = [process.execPath, MAIN, ...CREATE];
    const { code, stderr } = await runProcess(command, { env: shared.env, stdin: endless.stdout });
    expect([code, stderr]).toEqual([64, expect.stringContaining("too long")]);
    endless.kill();
    await endless.exited;
  });
});

describe("on a terminal", () => {
  test("a password is typed twice, can be corrected, and is never displayed; nor is the event", async () => {
    await using shared = await openSharedDatabase();
    const keystrokes: Keystrokes[] = [
      ["Password: ", "horse\r"],
      ["at least 8 characters", "correct hörsy\x7fe\r"],
      ["Repeat password: ", "correct hörse\r"],
    ];
    const { code, screen } = await runOnTerminal(CREATE, keystrokes, shared.env);
    expect(code).toBe(0);
    expect(screen).toContain(EMAIL);
    expect(screen).not.toMatch(/horse|correct|user\.registered/);
    expect(await shared.canLogIn("correct hörse")).toBe(true);
  });

  test.each<[string, number, Keystrokes[], string]>([
    ["another password", 64, [["Repeat password: ", "horse\r"]], "The passwords do not match."],
    ["Ctrl-D", 64, [["Repeat password: ", "\x04"]], "The passwords do not match."],
    ["Ctrl-C", 130, [["Repeat password: ", "\x03"]], ""],
  ])("%s as the repetition creates no user and exits with %i", async (_, exitCode, keystrokes, message) => {
    await using shared = await openSharedDatabase();
    const first: Keystrokes = ["Password: ", "correct horse\r"];
    const { code, screen } = await runOnTerminal(CREATE, [first, ...keystrokes], shared.env);
    expect([code, screen]).toEqual([exitCode, expect.stringContaining(message)]);
    expect(await shared.database.users.findByEmail(EMAIL)).toBeNull();
  });

  test.each([
    ["y\r", 0],
    ["\r", 1],
    ["\x04", 1],
    ["\x03", 130],
  ])("a deletion asks for confirmation, and the answer %j exits with %i", async (keys, exitCode) => {
    await using shared = await openSharedDatabase();
    await shared.insert(["ada"]);
    const { code, screen } = await runOnTerminal(["users", "delete", EMAIL], [["[y/N] ", keys]], shared.env);
    expect(screen).toContain("Delete ada@example.com (id 1, username ada) permanently?");
    expect(code).toBe(exitCode);
    expect((await shared.database.users.findById(1)) === null).toBe(exitCode === 0);
  });
});
