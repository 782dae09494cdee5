/** The pages of mails in a real browser, on a phone and on a wide window: from the request to the new password. */
import { afterAll, describe, expect } from "bun:test";
import type { Browser } from "@latchkey/testing/chromium";
import { DESKTOP, openBrowser, overflowOf, PHONE, browserTest as test } from "@latchkey/testing/chromium";
import { signOneTimeToken } from "../support/one-time-token.ts";
import { shareService } from "../support/service.ts";

const TIMEOUT_MS = 60_000;
const PASSWORD = "a new long passphrase";
const RESET_PAGE = "/account/reset-password";

const shared = shareService();
let browser: Promise<Browser> | undefined;
afterAll(async () => (await browser)?.[Symbol.asyncDispose]());

async function visit(path: string, viewport = PHONE) {
  browser ??= openBrowser();
  return (await browser).visit(shared().url + path, viewport);
}

async function linkFor(purpose: "reset" | "verification", id: number): Promise<string> {
  const user = await shared().database.users.findById(id);
  if (!user) throw new Error("No user");
  const path = purpose === "reset" ? RESET_PAGE : "/account/verify-email";
  return `${path}#token=${signOneTimeToken(purpose, user)}`;
}

describe.each([
  ["on a phone", PHONE],
  ["on a desktop", DESKTOP],
])("%s", (_name, viewport) => {
  test(
    "a user resets the password with the keyboard alone, and a used link leads to a new request",
    async () => {
      const { email, id, token } = await shared().createUser();
      const first = await visit("/account/forgot-password", viewport);
      await first.page.keyboard.press("Tab");
      await first.page.keyboard.type(email);
      await first.page.keyboard.press("Enter");
      await first.page.getByText("a link is on its way").waitFor();
      expect(
        await shared().sql(`select id from outbox where user_id = ${id} and kind = 'reset'`),
      ).toHaveLength(1);

      const link = await linkFor("reset", id);
      const { page, faults } = await visit(link, viewport);
      // Opening the link used nothing, and the token is neither in the address nor in the history.
      expect(new URL(page.url()).hash).toBe("");
      expect(await overflowOf(page)).toBe(0);
      await page.keyboard.press("Tab");
      await page.keyboard.type(PASSWORD);
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      await page.getByText("Your password is changed").waitFor();
      expect([...first.faults, ...faults]).toEqual([]);
      expect((await shared().call("GET", "/auth/me", { token })).status).toBe(401);
      await shared().login({ email, password: PASSWORD });

      const used = await visit(link, viewport);
      await used.page.fill("#password", PASSWORD);
      await used.page.click("button");
      await used.page.getByText("This link is not valid any more").waitFor();
      await used.page.click("text=Request a new link");
      await used.page.waitForURL("**/account/forgot-password");
    },
    TIMEOUT_MS,
  );
});

test(
  "a click confirms the address, and a page without a token offers no form",
  async () => {
    const { id } = await shared().createUser();
    const { page, faults } = await visit(await linkFor("verification", id));
    expect((await shared().database.users.findById(id))?.emailVerified).toBe(false);
    await page.click("button");
    await page.getByText("Your e-mail address is confirmed").waitFor();
    expect((await shared().database.users.findById(id))?.emailVerified).toBe(true);
    const empty = await visit(RESET_PAGE);
    expect(await empty.page.locator("form").isVisible()).toBe(false);
    expect(await empty.page.getByText("Request a new link").isVisible()).toBe(true);
    expect([...faults, ...empty.faults]).toEqual([]);
  },
  TIMEOUT_MS,
);

test(
  "the pages have a strict policy and nothing inline",
  async () => {
    for (const path of ["/account/forgot-password", RESET_PAGE, "/account/verify-email"]) {
      const response = await fetch(shared().url + path);
      expect(response.headers.get("content-security-policy")).toBe(
        "default-src 'none'; base-uri 'none'; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; img-src 'self'; script-src 'self'; style-src 'self'",
      );
      expect(response.headers.get("referrer-policy")).toBe("no-referrer");
      expect(await response.text()).not.toMatch(
        /<style|<script(?![^>]* src="\/)|\son\w+=|\sstyle=|https?:|"\/\//i,
      );
    }
  },
  TIMEOUT_MS,
);
