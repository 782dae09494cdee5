/** Invalid command lines: exit code 64 and one sentence without a password, before the database is opened. */
import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { openFolder } from "@latchkey/testing/folder";
import { expectSentence, runTool } from "./support/tool.ts";

const CREATE = ["users", "create", "ada@example.com", "-u", "ada"];
const longEmail = `${"a".repeat(243)}@example.com`;

const INVALID: readonly (readonly [reason: string, args: readonly string[], message: string])[] = [
  ["an unknown option", ["users", "list", "--limt", "3"], "--limit"],
  ["too many arguments", ["users", "show", "a@b.cd", "e@f.gh"], "arguments"],
  ["neither a user nor a domain", ["users", "delete", "--yes"], "either a user or --domain"],
  [
    "both a user and a domain",
    ["users", "delete", "1", "--domain=example.com", "--yes"],
    "either a user or --domain",
  ],
  ["an invalid domain", ["users", "delete", "--domain=a@example.com", "--yes"], "The domain is not"],
  ["no username", ["users", "create", "ada@example.com"], "--username"],
  ["an e-mail address that is too long", ["users", "create", longEmail, "-u", "ada"], "254"],
  ["a username of 33 characters", [...CREATE, "-u", "😀".repeat(33)], "32"],
  ["a user that is neither an e-mail address nor an id", ["users", "show", "ada"], "id"],
  ["an id with a leading zero", ["users", "show", "01"], "id"],
  ["an id above the safe integers", ["users", "delete", "9007199254740992", "--yes"], "9007199254740991"],
  ["a limit of 0", ["users", "list", "--limit=0"], "--limit"],
  ["an id after which to list that is not a number", ["users", "list", "--after=abc"], "--after"],
  ["a duration above 60 seconds", ["hash", "bench", "--seconds=61"], "--seconds"],
  ["a time that is not one", ["users", "import", "-", "--imported-before", "5"], "--imported-before"],
  ["a file of ids without --commit", ["users", "import", "-", "--ids", "ids.jsonl"], "--commit"],
  ["a password", [...CREATE, "--password=hunter2'hunter2"], "cannot be passed as an argument"],
  [
    "a password after a space",
    [...CREATE, "--password", "hunter2hunter2"],
    "cannot be passed as an argument",
  ],
  ["an abbreviated option with a password", [...CREATE, "--pass=hunter2'hunter2"], "--pass"],
];

test.each(INVALID)("a command line is rejected because of %s", async (_, args, message) => {
  await using folder = await openFolder();
  const { code, stdout, stderr } = await runTool(args, { env: { DATABASE_URL: folder.databaseUrl } });
  expect({ code, stdout }).toEqual({ code: 64, stdout: "" });
  expect(stderr).toContain(message);
  expect(stderr).not.toContain("hunter2");
  expectSentence(stderr);
  expect(readdirSync(folder.path)).toEqual([]);
});
