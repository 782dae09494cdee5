/** A list of passwords or of their digests: what is listed, and which files are errors. */
import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { openFolder } from "@latchkey/testing/folder";
import { openPasswordBlocklist } from "../src/password-blocklist.ts";

const sha1 = (text: string) => createHash("sha1").update(text).digest("hex").toUpperCase();

async function openList(content: string) {
  await using folder = await openFolder();
  await Bun.write(`${folder.path}/list`, content);
  return await openPasswordBlocklist(`${folder.path}/list`);
}

test.each([
  ["passwords", "\uFEFFCorrect Horse\r\n\r\n ÄÖÜ wörter \r\nlast one"],
  ["digests", `${sha1("correct horse")}\n${sha1(" äöü wörter ")}:7\r\n${sha1("last one").toLowerCase()}`],
])("lines of %s list passwords, in lowercase or as they are", async (_name, content) => {
  const { isListed, validate } = await openList(content);
  validate();
  for (const listed of ["correct horse", "CORRECT horse", " ÄÖÜ WÖRTER ", "Last One"])
    expect(isListed(listed)).toBe(true);
  for (const other of ["correct  horse", "äöü wörter", "", "last one\r"]) expect(isListed(other)).toBe(false);
});

test("every line of a million is listed", async () => {
  const length = 2 ** 20 + 2;
  const { isListed } = await openList(Array.from({ length }, (_, index) => `p${index}`).join("\n"));
  for (let index = 0; index < length; index += 8191) expect(isListed(`p${index}`)).toBe(true);
  expect([-1, 0].map((end) => isListed(`p${length + end}`))).toEqual([true, false]);
});

test.each([
  ["that is empty", "\n", "without passwords"],
  ["of digests and a password", `${sha1("a")}\n${sha1("b")}x`, "whose line 2 is not a SHA-1 digest"],
  ["of other digests", `${sha1("a").slice(8)}:7\n`, "whose line 1 is not a SHA-1 digest"],
  ["of UTF-16", "\uFFFDa\0b\0\n\0", "whose line 1 is not a SHA-1 digest"],
  ["without lines", "x".repeat(1_000_000), "whose line 1 is too long"],
])("a file %s is an error", async (_name, content, problem) => {
  expect((await openList(content)).validate).toThrow(`names a file ${problem}`);
});
