/** The table of limits: no mail is unlimited. */
import { expect, test } from "bun:test";
import { MAIL_KINDS } from "@latchkey/contracts";
import { MAIL_BUDGETS } from "../../src/rate-limit/limits.ts";

test("each kind of mail counts in one budget of its recipient", () => {
  const kinds = MAIL_BUDGETS.filter(({ per }) => per === "recipient").flatMap((budget) => budget.kinds);
  expect(kinds.toSorted()).toEqual(MAIL_KINDS.toSorted());
});
