import { expect, test } from "bun:test";
import { parseResults } from "./test-results.ts";

const testCase = (name: string, outcome: string) =>
  `<testcase name="${name}" classname="" time="0" file="test/a.test.ts" line="3" assertions="0">\n  ${outcome}\n</testcase>`;

test("what the full run includes counts neither as passed nor as skipped", () => {
  const xml = [
    '<testsuites name="bun test" tests="4" assertions="0" failures="1" skipped="2" time="1.5">',
    '<testcase name="passes" classname="" time="0" file="test/a.test.ts" line="1" assertions="1" />',
    testCase("fails &gt; 1", '<failure type="AssertionError" />'),
    testCase("lacks Redis", "<skipped />"),
    testCase("an image [full run]", "<skipped />"),
    "</testsuites>",
  ].join("\n");
  expect(parseResults(xml, "packages/mail")).toEqual({
    passed: 1,
    failed: 1,
    skipped: 1,
    seconds: 1.5,
    failures: ["  packages/mail/test/a.test.ts:3  fails > 1"],
    leftOut: ["packages/mail/test/a.test.ts"],
  });
});
