/** Logins with a provider and with a code on the page of accounts, in a real browser. */
import { expect } from "bun:test";
import { browserTest, DESKTOP, PHONE } from "@latchkey/testing/chromium";
import { inFullRun } from "@latchkey/testing/full-run";
import { startMailServer } from "@latchkey/testing/mail-server";
import { freePort } from "@latchkey/testing/server-process";
import { smtp, startSender } from "../support/mail-sender.ts";
import { CLIENT, startHostileProvider } from "../support/openid/hostile-provider.ts";
import { createVerified } from "../support/passkeys.ts";
import { startService } from "../support/service.ts";
import { sharedBrowser } from "../support/shared-resources.ts";

const test = inFullRun(browserTest);

test.each([PHONE, DESKTOP])(
  "a provider's first login creates the user, the second one finds it, and the page removes the identity: %o",
  async (viewport) => {
    await using provider = await startHostileProvider();
    const port = freePort();
    const url = `http://127.0.0.1:${port}/account`;
    const OIDC_PROVIDERS = JSON.stringify([{ name: "example", issuer: provider.issuer, ...CLIENT }]);
    const env = {
      PORT: String(port),
      OIDC_PROVIDERS,
      OIDC_REDIRECT_URIS: `https://app.example.com/callback,${url}`,
    };
    await using service = await startService({ env });
    const { page } = await (await sharedBrowser()).visit(url, viewport);
    for (const login of ["first", "second"]) {
      if (login === "first") await page.getByRole("link", { name: "Create an account" }).click();
      const name = login === "first" ? "Continue with example" : "Log in with example";
      await page.getByRole("button", { name }).click();
      await page.getByText("You are logged in as ada@example.org").waitFor();
      expect(page.url()).toBe(url);
      const asked = page.waitForResponse("**/removal");
      await page.locator("#identities-section summary").click();
      await asked;
      await page.getByText(/Created on .* used on/).waitFor();
      await page.reload();
      await page.getByText("You are logged in as ada@example.org").waitFor();
      await page.locator("#identities-section summary").click();
      if (login === "first") await page.getByRole("button", { name: "Log out", exact: true }).click();
    }
    expect(await service.sql("select id from users")).toHaveLength(1);
    expect(await page.locator("#identity-current").isVisible()).toBe(false);
    await page.getByRole("button", { name: "Remove example" }).click();
    await page.getByText("The login with example is removed.").waitFor();
    expect(await service.sql("select id from identities")).toEqual([]);
  },
);

/** A page to which the provider can send a user. */
async function startWithProvider(issuer: string) {
  const port = freePort();
  const url = `http://127.0.0.1:${port}/account`;
  const OIDC_PROVIDERS = JSON.stringify([{ name: "example", issuer, ...CLIENT }]);
  const service = await startService({
    env: { PORT: String(port), OIDC_PROVIDERS, OIDC_REDIRECT_URIS: url },
  });
  return { url, [Symbol.asyncDispose]: () => service[Symbol.asyncDispose]() };
}

test("a response that this tab cannot use is explained, and leaves the address", async () => {
  await using service = await startWithProvider("http://127.0.0.1:1");
  const { page } = await (await sharedBrowser()).visit(service.url, PHONE);
  for (const [query, text] of [
    ["?code=a-code&state=a-state", "You began this login in another tab"],
    ["?error=access_denied", "You were not logged in."],
    ["?error=access_denied&state=a-state", "You were not logged in."],
  ] as const) {
    await page.goto(service.url + query);
    await page.locator("#login-form .problem", { hasText: text }).waitFor();
    expect(page.url()).toBe(service.url);
  }
});

test("a browser that blocks the storage is named when a provider needs it", async () => {
  await using provider = await startHostileProvider();
  await using service = await startWithProvider(provider.issuer);
  const { page } = await (await sharedBrowser()).visit("about:blank", PHONE);
  // As in a browser that blocks the data of sites.
  await page.addInitScript(`Object.defineProperty(window, "sessionStorage", {
    get: () => { throw new DOMException("Access is denied", "SecurityError"); },
  })`);
  await page.goto(service.url);
  await page.getByRole("button", { name: "Log in with example" }).click();
  await page.getByText("Your browser blocks the storage of this page").waitFor();
});

test("a page to which no provider can send a user offers none", async () => {
  await using provider = await startHostileProvider();
  const OIDC_PROVIDERS = JSON.stringify([{ name: "example", issuer: provider.issuer, ...CLIENT }]);
  const env = { OIDC_PROVIDERS, OIDC_REDIRECT_URIS: "https://app.example.com/callback" };
  await using service = await startService({ env });
  const { page } = await (await sharedBrowser()).visit(`${service.url}/account`, PHONE);
  expect(await page.getByRole("button", { name: "Log in with example" }).isVisible()).toBe(false);
});

test("a code from a mail logs in, also after a reload and a later request, and a wrong one is an error beside its field", async () => {
  await using server = await startMailServer();
  const env = { AUTH_EMAIL_LOGIN: "true", PASSKEY_ORIGINS: "http://localhost:3000" };
  await using service = await startService({ env });
  await using sender = await startSender(service, smtp(server));
  const { email } = await createVerified(service);
  const { page } = await (await sharedBrowser()).visit(`${service.url}/account`, PHONE);
  await page.locator("#code-section summary").click();
  await page.fill("#code-email", email);
  await page.getByRole("button", { name: "Mail me a code" }).click();
  await page.locator("#code").waitFor();
  await sender.drained();
  const mail = server.received.find(({ message }) => message.includes("Subject: Your code"));
  const [, code = ""] = /^(\d{8})\r?$/m.exec(mail?.message ?? "") ?? [];
  await page.fill("#code", code === "00000000" ? "00000001" : "00000000");
  await page.keyboard.press("Enter");
  await page.getByText("This code is not right").waitFor();
  await page.reload();
  await page.getByRole("button", { name: "Mail me a code" }).click();
  await page.locator("#code-request-form:not([aria-busy])").waitFor();
  await page.reload();
  await page.fill("#code", code);
  await page.keyboard.press("Enter");
  await page.getByText(`You are logged in as ${email}`).waitFor();
  // The user has a password, which the login did not use.
  await page.locator("#passkeys-section summary").click();
  await page.getByLabel("Current password", { exact: true }).and(page.locator("#passkey-current")).waitFor();
});
