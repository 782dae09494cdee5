/** Invalid command lines: exit code 64 and one sentence, before the database is opened. */
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { expectSentence, runTool } from "./support/tool.ts";

const create = (...rest: string[]) => ["users", "create", ...rest];
const longEmail = `${"a".repeat(243)}@example.com`;

const INVALID: readonly (readonly [reason: string, args: readonly string[], message: string])[] = [
  ["an unknown command", ["user"], "users"],
  ["an unknown command of a group", ["users", "remove"], "'remove'"],
  ["an unknown option", ["users", "list", "--limt", "3"], "--limit"],
  ["an option without its value", ["users", "list", "--limit"], "--limit"],
  ["too many arguments", ["users", "show", "a@b.cd", "e@f.gh"], "arguments"],
  ["an argument of a command without arguments", ["migrate", "now"], "arguments"],
  ["no user", ["users", "show"], "'user'"],
  ["neither a user nor a domain", ["users", "delete", "--yes"], "either a user or --domain"],
  [
    "both a user and a domain",
    ["users", "delete", "1", "--domain=example.com", "--yes"],
    "either a user or --domain",
  ],
  ["an invalid domain", ["users", "delete", "--domain=a@example.com", "--yes"], "The domain is not"],
  ["no e-mail address", create("--username", "ada"), "'email'"],
  ["no username", create("ada@example.com"), "--username"],
  ["an e-mail address without a domain", create("ada", "-u", "ada"), "e-mail address"],
  ["an e-mail address that is too long", create(longEmail, "-u", "ada"), "254"],
  ["an empty username", create("ada@example.com", "-u", ""), "username"],
  ["a username of 33 characters", create("ada@example.com", "-u", "😀".repeat(33)), "32"],
  ["a user that is neither an e-mail address nor an id", ["users", "show", "ada"], "id"],
  ["an id of 0", ["users", "show", "0"], "id"],
  ["an id with a leading zero", ["users", "show", "01"], "id"],
  ["an id above the safe integers", ["users", "delete", "9007199254740992", "--yes"], "9007199254740991"],
  ["an empty user", ["users", "activate", ""], "id"],
  ["a limit of 0", ["users", "list", "--limit=0"], "--limit"],
  ["an id after which to list that is not a number", ["users", "list", "--after=abc"], "--after"],
  ["a duration above 60 seconds", ["hash", "bench", "--seconds=61"], "--seconds"],
];

describe("a command line is rejected because of", () => {
  test.each(INVALID)("%s", async (_, args, message) => {
    await using folder = await openFolder();
    const path = join(folder.path, "latchkey.db");
    const env = { DATABASE_URL: `file:${path}` };
    const { code, stdout, stderr } = await runTool(args, { env });
    expect({ code, stdout }).toEqual({ code: 64, stdout: "" });
    expect(stderr).toContain(message);
    expectSentence(stderr);
    expect(existsSync(path)).toBe(false);
  });

  test.each(["--password=hunter2'hunter2", "--password hunter2hunter2", "--pass=hunter2'hunter2"])(
    "a password as an argument, which the message does not repeat: %s",
    async (option) => {
      const args = create("ada@example.com", "-u", "ada", ...option.split(" "));
      const { code, stdout, stderr } = await runTool(args);
      expect({ code, stdout }).toEqual({ code: 64, stdout: "" });
      expect(stderr).toContain(
        option.startsWith("--password") ? "cannot be passed as an argument" : "--pass",
      );
      expect(stderr).not.toContain("hunter2");
      expectSentence(stderr);
    },
  );
});
