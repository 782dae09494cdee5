/** The pages of mails in a real browser, from the link of a real mail to the new password. */
import { expect } from "bun:test";
import type { Page } from "@latchkey/testing/chromium";
import { PHONE, browserTest as test } from "@latchkey/testing/chromium";
import { inFullRun } from "@latchkey/testing/full-run";
import { type MailServer, startMailServer } from "@latchkey/testing/mail-server";
import { smtp, startSender } from "../support/mail-sender.ts";
import { beginEmailChange, signOneTimeToken } from "../support/one-time-token.ts";
import { EVERY_FEATURE, startService } from "../support/service.ts";
import { sharedBrowser } from "../support/shared-resources.ts";

const PASSWORD = "a new long passphrase";
const RESET_PAGE = "/account/reset-password";

const visit = async (url: string) => (await sharedBrowser()).visit(url, PHONE);

/** The link in the mail with this number. */
async function linkOf(server: MailServer, number: number): Promise<string> {
  const mail = (await server.waitFor(number))[number - 1];
  return /^http\S+/m.exec(mail?.message ?? "")?.[0] ?? "";
}

test("an expired link leads to a new request, and its mail to a new password, with the keyboard alone", async () => {
  await using server = await startMailServer();
  await using service = await startService();
  await using _sender = await startSender(service, smtp(server));
  const { email, id, token } = await service.createUser();
  const user = await service.readUser(id);
  // The verification.
  await server.waitFor(1);
  const expiredLink = `${service.url}${RESET_PAGE}#token=${signOneTimeToken("reset", user, { expiresAt: Date.now() })}`;

  const expired = await visit(expiredLink);
  await submit(expired.page, PASSWORD);
  await expired.page.getByText("This link is not valid any more").waitFor();
  await expired.page.keyboard.press("Tab");
  await expired.page.keyboard.press("Enter");
  await expired.page.waitForURL("**/account/forgot-password");
  await submit(expired.page, email);
  await expired.page.getByText("a link is on its way").waitFor();
  expect(expired.faults).toEqual([expect.stringContaining("400")]);

  const { page, faults } = await visit(await linkOf(server, 2));
  // Opening the link used nothing, and the token is neither in the address nor in the history.
  expect(new URL(page.url()).hash).toBe("");
  await page.reload();
  await submit(page, PASSWORD);
  await page.getByText("Your password is changed").waitFor();
  await page.reload();
  await page.getByText("This link is not valid any more").waitFor();
  expect(faults).toEqual([]);
  expect((await service.call("GET", "/auth/me", { token })).status).toBe(401);
  await service.login({ email, password: PASSWORD });
});

/** Fills the only field of a page and sends the form. */
async function submit({ keyboard }: Page, text: string): Promise<void> {
  await keyboard.press("Tab");
  await keyboard.type(text);
  await keyboard.press("Enter");
}

inFullRun(test)("a reset that this tab has requested ends in the account", async () => {
  await using server = await startMailServer();
  await using service = await startService();
  await using _sender = await startSender(service, smtp(server));
  const { email } = await service.createUser();
  await server.waitFor(1);
  const { page } = await visit(`${service.url}/account/forgot-password`);
  await submit(page, email);
  await page.getByText("a link is on its way").waitFor();
  await page.goto(await linkOf(server, 2));
  await submit(page, PASSWORD);
  await page.getByText("Your password is changed, and you are logged in.").waitFor();
  await page.getByText(`You are logged in as ${email}`).waitFor();
});

inFullRun(test)(
  "a new e-mail is approved and confirmed with the keyboard by a user who knows what it ends, unless another user has it now",
  async () => {
    await using service = await startService({ env: EVERY_FEATURE });
    const { id } = await service.createUser();
    const confirm = async (newEmail: string) => {
      const user = await beginEmailChange(service, id, newEmail);
      const open = async (
        purpose: "email-change-approval" | "email-change",
        path: string,
        effect: string,
      ) => {
        const visited = await visit(`${service.url}${path}#token=${signOneTimeToken(purpose, user)}`);
        await visited.page.getByText(effect).waitFor();
        await visited.page.keyboard.press("Tab");
        await visited.page.keyboard.press("Enter");
        return visited;
      };
      const approving = "Opening it ends all logins and removes your passkeys";
      const approved = await open("email-change-approval", "/account/approve-email", approving);
      await approved.page.getByText("A link is on its way to the new address.").waitFor();
      expect(approved.faults).toEqual([]);
      const confirming = "This ends all earlier logins and removes your passkeys.";
      return open("email-change", "/account/change-email", confirming);
    };
    const taken = await confirm((await service.register()).email);
    await taken.page.getByText("Another account has this e\u2011mail address now.").waitFor();
    expect(taken.faults).toEqual([expect.stringContaining("409")]);
    const { page, faults } = await confirm("new@example.org");
    await page.getByText("Your e\u2011mail address is changed").waitFor();
    expect(faults).toEqual([]);
    expect((await service.readUser(id)).email).toBe("new@example.org");
  },
);

inFullRun(test)(
  "a click confirms the address, and a page without a token offers no form until a link is opened in it",
  async () => {
    await using server = await startMailServer();
    await using service = await startService({ env: { PRODUCT_URL: "https://app.example.com" } });
    await using _sender = await startSender(service, smtp(server));
    const { id } = await service.createUser();
    const isVerified = async () => (await service.readUser(id)).emailVerified;
    const { page, faults } = await visit(await linkOf(server, 1));
    expect(await isVerified()).toBe(false);
    await page.click("button");
    await page.getByText("Your e\u2011mail address is confirmed").waitFor();
    expect(await isVerified()).toBe(true);
    expect(await page.getByRole("link", { name: "Continue" }).getAttribute("href")).toBe(
      "https://app.example.com",
    );
    await page.reload();
    await page.getByRole("link", { name: "Log in to get a new link" }).click();
    await page.waitForURL("**/account");
    const empty = await visit(service.url + RESET_PAGE);
    expect(await empty.page.locator("form").isVisible()).toBe(false);
    expect(await empty.page.getByText("Request a new link").isVisible()).toBe(true);
    expect([...faults, ...empty.faults]).toEqual([]);
    // Only the fragment of the address changes.
    await empty.page.goto(`${service.url}${RESET_PAGE}#token=x`);
    await empty.page.locator("form").waitFor();
  },
);

inFullRun(test)(
  "rules and errors are beside their field, and the browser neither cuts nor refuses what the service checks",
  async () => {
    await using service = await startService({ env: { ...EVERY_FEATURE, LANGUAGES: "en,de" } });
    const { id } = await service.createUser();
    const token = signOneTimeToken("reset", await service.readUser(id));
    const { page } = await visit(`${service.url}${RESET_PAGE}#token=${token}`);
    const password = page.getByLabel("New password", { exact: true });
    await password.focus();
    // As a paste does, which `fill` does not.
    await page.keyboard.insertText("x".repeat(140));
    await page.keyboard.press("Enter");
    await page.getByText("New password must be at most 128 characters long.").waitFor();
    const focused = await page.evaluate(`(({ id, value, ariaInvalid, ariaDescribedByElements }) => [
    id, ariaInvalid, value.length, ariaDescribedByElements.map(({ textContent }) => textContent),
  ])(document.activeElement)`);
    expect(focused).toEqual([
      "new-password",
      "true",
      140,
      ["8 to 128 characters.", "New password must be at most 128 characters long."],
    ]);
    await page.getByRole("button", { name: "Show new password" }).click();
    expect(await password.getAttribute("type")).toBe("text");
    // A password manager saves the new password with this e-mail.
    await page.locator("input[autocomplete=username]").fill("ada@example.com");
    await password.fill(PASSWORD);
    await page.keyboard.press("Enter");
    await page.getByText("Your password is changed").waitFor();
    expect(await password.getAttribute("type")).toBe("password");

    await page.goto(`${service.url}/account/forgot-password`);
    await submit(page, "josé@example.com");
    await page.getByText("a link is on its way").waitFor();

    // The service's own words are English.
    await page.goto(`${service.url}/account?lang=de#create`);
    await page.fill("#register-email", "x");
    await page.fill("#register-username", " ");
    await page.fill("#register-password", "short");
    await page.keyboard.press("Enter");
    for (const text of [
      "Das ist keine gültige E\u2011Mail-Adresse.",
      "Bitte geben Sie ein sichtbares Zeichen ein.",
      "Bitte geben Sie mindestens 8 Zeichen ein.",
    ])
      await page.getByText(text).waitFor();
  },
);

inFullRun(test)("a chosen language is that of the tab", async () => {
  await using service = await startService({ env: { ...EVERY_FEATURE, LANGUAGES: "en,de" } });
  const { page } = await visit(`${service.url}/account?lang=de`);
  await page.getByRole("link", { name: "Passwort vergessen" }).click();
  await page.waitForURL("**/account/forgot-password?lang=de");
  await page.goto(`${service.url}/account?code=c&state=s`);
  await page.waitForURL("**/account");
  expect(await page.locator("html").getAttribute("lang")).toBe("de");
  await page.goto(`${service.url}/account?lang=en`);
  await page.goto(`${service.url}/account`);
  expect(await page.locator("html").getAttribute("lang")).toBe("en");
});
