/** Which addresses share a budget. */
import { expect, test } from "bun:test";
import { mailboxOf } from "../src/index.ts";

test("unverified addresses that differ only in the tag share a budget, which is not that of the address without a tag", () => {
  const tagged = ["ada+shop@example.com", "ada+x+y@example.com"].map((address) => mailboxOf(address, false));
  expect(tagged).toEqual(["ada tagged@example.com", "ada tagged@example.com"]);
  expect(mailboxOf("ada@example.com", false)).toBe("ada@example.com");
});

test("a verified address has a budget of its own, and an address that begins with a plus sign has no tag", () => {
  expect(mailboxOf("ada+shop@example.com", true)).toBe("ada+shop@example.com");
  expect(mailboxOf("+ada@example.com", false)).toBe("+ada@example.com");
});

test("both forms of an internationalized domain share a budget", () => {
  expect(mailboxOf("ada@bücher.example", false)).toBe(mailboxOf("ada@xn--bcher-kva.example", false));
});
