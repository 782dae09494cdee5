/** The table of limits: no mail is unlimited, and the documents state its numbers. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { hasCode, MAIL_KINDS } from "@latchkey/contracts";
import type { MailBudget } from "@latchkey/database";
import { LOGIN_ATTEMPTS, WRONG_PASSWORDS } from "@latchkey/limits";
import { ROOT } from "@latchkey/testing/repository";
import {
  CODE_EXCHANGES,
  describeRefill,
  EMAIL_CHANGE_REQUESTS,
  inWords,
  MAIL_BUDGETS,
  MAX_PROMPT_REJECTIONS,
} from "../../src/rate-limit/limits.ts";
import { readConfig } from "../support/service.ts";

test("each kind of mail has one budget, except four notifications to verified recipients", () => {
  const kindsFor = (one: "verified" | "unverified") =>
    Object.values<MailBudget>(MAIL_BUDGETS)
      .filter(({ recipients = one }) => recipients === one)
      .flatMap(({ kinds }) => [...kinds])
      .toSorted()
      // Codes have a budget of bursts and one of a day, those of logins also one of unverified recipients.
      .filter((kind, index, all) => !hasCode(kind) || all[index - 1] !== kind);
  expect(kindsFor("unverified")).toEqual(MAIL_KINDS.toSorted());
  const unlimited = ["email", "deletion", "factor-removed", "factor-failures"];
  expect(kindsFor("verified")).toEqual(MAIL_KINDS.filter((kind) => !unlimited.includes(kind)).toSorted());
});

const { rateLimits } = readConfig({ RATE_LIMIT_ENABLED: "true" });
const perClient = (limit = 0) => `${limit} per minute and client address`;
const attempts = describeRefill(LOGIN_ATTEMPTS, " attempts from unfamiliar networks");
const wrong = inWords(WRONG_PASSWORDS.capacity);
const { resets, loginCodes, unverifiedLoginCodes } = MAIL_BUDGETS;
const { passwords, passkeys, identities, takeovers, notifications } = MAIL_BUDGETS;

const SENTENCES = {
  "docs/api.md": [
    `| 201 user | ${perClient(rateLimits?.register.limit)} |`,
    `| 200 token | ${perClient(rateLimits?.login.limit)}; each e-mail also has ${attempts} |`,
    `; ${rateLimits?.passwordChange.limit} password changes per minute and user, and per client address |`,
    `revokes all tokens; ${perClient(rateLimits?.mail.limit)} |`,
    `without e-mail and password; ${perClient(rateLimits?.passkeyLogin.limit)} |`,
  ],
  "docs/security.md": [
    `${rateLimits?.login.limit} well-formed login requests per client address and minute`,
    `at most ${wrong} wrong values of \`current_password\` per user and day, counted anew after a login with the password or the end of all tokens`,
    `at ${rateLimits?.register.limit} requests per minute and address`,
    `at ${rateLimits?.default.limit} per minute and address`,
  ],
  "docs/hosted-login.md": [`A user can exchange ${CODE_EXCHANGES.capacity} codes in two minutes`],
  "docs/errors.md": [
    `After ${MAX_PROMPT_REJECTIONS.toLocaleString("en")} rejections (429) of a client address in the time of a limit`,
  ],
  "docs/operations.md": [
    `Each e-mail has ${attempts}`,
    `after ${wrong} wrong values in a day`,
    `${describeRefill(resets, " resets in 24 hours")}, and as many again that are requested from`,
    "; as many verifications, as many approvals and as many confirmations of a change",
    `${inWords(passwords.capacity)} notifications of passwords in 24 hours, ${inWords(passkeys.capacity)} of passkeys, ${inWords(identities.capacity)} of identities and ${inWords(takeovers.capacity)} of takeovers`,
    `A recipient gets ${describeRefill(loginCodes, " codes")}`,
    `an unverified one, ${inWords(unverifiedLoginCodes.capacity)} a day`,
    `all notifications share ${inWords(notifications.capacity)}`,
    `${inWords(EMAIL_CHANGE_REQUESTS)} requests of a user for a change of e-mail have an effect in 24 hours`,
  ],
};

test.each(Object.entries(SENTENCES))("%s states the limits", async (path, sentences) => {
  const text = (await Bun.file(join(ROOT, path)).text()).replaceAll(/\s+/g, " ");
  expect(sentences.filter((sentence) => !text.includes(sentence))).toEqual([]);
});
