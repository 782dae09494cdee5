/**
 * How a person reaches an application without forms of its own, in each language: by a registration, an invitation, a forgotten
 * password, a provider, and a mailed code with a second factor. Browser, mails and provider are real.
 */
import { afterAll, beforeAll, describe, expect } from "bun:test";
import { SHIPPED_LANGUAGES } from "@latchkey/contracts";
import { noPassword } from "@latchkey/database";
import { type Page, PHONE, browserTest as test } from "@latchkey/testing/chromium";
import { inFullRun } from "@latchkey/testing/full-run";
import { startMailServer } from "@latchkey/testing/mail-server";
import { freePort } from "@latchkey/testing/server-process";
import { serveApplication } from "../support/application.ts";
import { enrolFactor } from "../support/factors.ts";
import { smtp, startSender } from "../support/mail-sender.ts";
import { startCertifiedProvider } from "../support/openid/certified-provider.ts";
import { CLIENT } from "../support/openid/hostile-provider.ts";
import { newCredentials, type Service, startService } from "../support/service.ts";
import { sharedBrowser } from "../support/shared-resources.ts";

/** The application, as `docs/hosted-login.md` describes it. */
const application = (baseUrl: string) => `
<p role=status></p><button>Log in</button> <button>Create an account</button>
<script type=module>
import { createClient } from "/client.js";
const client = createClient({ baseUrl: "${baseUrl}", storage: () => localStorage });
const [logIn, register] = document.querySelectorAll("button");
const begin = async (options) => {
  location.href = await client.hostedLogin.begin("web", location.origin + "/callback", options);
};
logIn.onclick = () => begin();
register.onclick = () => begin({ prompt: "create" });
if (location.search) {
  await client.hostedLogin.finish(location.href);
  history.replaceState(null, "", "/");
  document.querySelector("[role=status]").textContent = "Welcome " + (await client.getMe()).email;
}
</script>`;

inFullRun(describe).each(SHIPPED_LANGUAGES)("in %s", (language) => {
  const resources = new AsyncDisposableStack();
  let service: Service;
  let origin: string;
  let provider: Awaited<ReturnType<typeof startCertifiedProvider>>;
  let mailServer: Awaited<ReturnType<typeof startMailServer>>;
  let sender: Awaited<ReturnType<typeof startSender>>;
  beforeAll(async () => {
    const port = freePort();
    const url = `http://127.0.0.1:${port}`;
    ({ origin } = resources.use(await serveApplication(application(url))).url);
    provider = resources.use(await startCertifiedProvider([`${url}/account`]));
    mailServer = resources.use(await startMailServer());
    service = resources.use(
      await startService({
        env: {
          PORT: String(port),
          PUBLIC_URL: url,
          AUTH_ISSUER: url,
          CORS_ORIGINS: origin,
          LOGIN_CLIENTS: JSON.stringify([
            { client_id: "web", name: "Example", redirect_uris: [`${origin}/callback`] },
          ]),
          LANGUAGES: "en,de",
          AUTH_REQUIRE_VERIFIED_EMAIL: "true",
          AUTH_SECOND_FACTOR: "true",
          AUTH_EMAIL_LOGIN: "true",
          OIDC_PROVIDERS: JSON.stringify([{ name: "example", issuer: provider.issuer, ...CLIENT }]),
          OIDC_REDIRECT_URIS: `${url}/account`,
        },
      }),
    );
    sender = await startSender(service, smtp(mailServer));
    resources.defer(sender.close);
  });
  afterAll(() => resources.disposeAsync());

  const createUser = async () => {
    const { user, ...credentials } = await service.register();
    await service.database.users.update(user.id, { emailVerified: true, locale: language });
    return { ...credentials, user, id: user.id, token: await service.login(credentials) };
  };
  /** Opens the application in a browser of this language. */
  const openApplication = async (): Promise<Page> => {
    const { page } = await (await sharedBrowser()).visit(origin, PHONE);
    await page.context().setExtraHTTPHeaders({ "accept-language": language });
    return page;
  };
  const expectLanguage = async (page: Page): Promise<void> =>
    expect<string | null>(await page.locator("html").getAttribute("lang")).toBe(language);
  const begin = async (page: Page, button = "Log in"): Promise<void> => {
    await page.getByRole("button", { name: button }).click();
    await page.waitForURL("**/account/authorize?**");
    await expectLanguage(page);
  };
  /** A click returns to an application on this machine. */
  const expectReturn = async (page: Page, email: string): Promise<void> => {
    await page.locator("#return").click();
    await page.getByText(`Welcome ${email}`).waitFor();
  };
  const logIn = async (page: Page, { email, password }: { email: string; password: string }) => {
    await page.fill("#email", email);
    await page.fill("#password", password);
    await page.keyboard.press("Enter");
  };
  /** Returns what `pattern` finds in a mail to this address, of those after the first `skipped`. */
  const findInMail = async (email: string, pattern: RegExp, skipped = 0): Promise<string> => {
    for (let count = skipped + 1; ; count++) {
      const mail = (await mailServer.waitFor(count))[count - 1];
      const [found] = (mail?.recipients.includes(email) && pattern.exec(mail.message)) || [];
      if (!mail || found === undefined) continue;
      expect(mail.raw).toContain(`Content-Language: ${language}`);
      return found;
    }
  };
  /** Opens the link of the mail in another tab of the browser, as mail programs do. */
  const openLink = async (page: Page, email: string, kind: string): Promise<Page> => {
    const link = await findInMail(email, new RegExp(`http\\S+/account/${kind}#token=\\S+`));
    const other = await page.context().newPage();
    await other.goto(link);
    await expectLanguage(other);
    return other;
  };

  test("a registration, whose address is confirmed, leads to the application", async () => {
    const user = newCredentials();
    const page = await openApplication();
    await begin(page, "Create an account");
    await page.fill("#register-email", user.email);
    await page.fill("#register-username", user.username);
    await page.fill("#register-password", user.password);
    await page.keyboard.press("Enter");
    await page.locator("#confirm-email").getByText(user.email).waitFor();
    const other = await openLink(page, user.email, "verify-email");
    await other.locator("#link-form button").click();
    await other.locator("#success").waitFor();
    await page.locator("#confirm a").click();
    await logIn(page, user);
    await expectReturn(page, user.email);
  });

  test("an invitation leads to an account, and from there the application", async () => {
    const { email, username, password } = newCredentials();
    const page = await openApplication();
    const user = { email, username, ...noPassword(), locale: language, invites: true };
    await service.database.users.create(user);
    const other = await openLink(page, email, "invitation");
    await other.fill("#new-password", password);
    await other.fill("#username", email);
    await other.keyboard.press("Enter");
    await other.waitForURL("**/account");
    await expectLanguage(other);
    await other.locator("#user").getByText(email).first().waitFor();
    await begin(page);
    await logIn(page, { email, password });
    await expectReturn(page, email);
  });

  test.each(["another tab", "the same tab"])(
    "a forgotten password, whose link is opened in %s, leads to the application",
    async (place) => {
      const { email } = await createUser();
      const password = "a new passphrase";
      const page = await openApplication();
      await begin(page);
      const address = page.url();
      await page.locator("#forgotten").click();
      await page.waitForURL("**/account/forgot-password");
      await expectLanguage(page);
      await page.fill("#email", email);
      await page.keyboard.press("Enter");
      await page.locator("#success").waitFor();
      const other = await openLink(page, email, "reset-password");
      const opened = place === "another tab" ? other : page;
      if (opened === page) await page.goto(`${new URL(other.url())}#token=${await tokenOf(other)}`);
      await opened.fill("#new-password", password);
      await opened.keyboard.press("Enter");
      await opened.locator("#success").waitFor();
      await page.locator(opened === page ? "#success a" : ".others a").click();
      await page.waitForURL(address);
      await logIn(page, { email, password });
      await expectReturn(page, email);
    },
  );

  test("a provider leads to the application, and later only to the account", async () => {
    const { email, username: sub } = newCredentials();
    await provider.setUser({ sub, email, email_verified: true });
    const page = await openApplication();
    await begin(page);
    await page.locator("#login [data-provider=example]").click();
    await page.locator("[name=login]").fill(sub);
    await page.locator("[name=password]").fill("any");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Continue" }).click();
    await page.waitForURL("**/account/authorize?**");
    await expectReturn(page, email);
    // A login for the application that is given up at the provider.
    await begin(page);
    await page.locator("#login [data-provider=example]").click();
    await page.waitForURL(`${provider.issuer}/**`);
    await page.goto(`${service.url}/account`);
    await page.locator("#login [data-provider=example]").click();
    await page.getByRole("button", { name: "Continue" }).click();
    await page.locator("#user").getByText(email).first().waitFor();
    expect(page.url()).toBe(`${service.url}/account`);
  });

  test("a mailed code and the second factor lead to the application", async () => {
    const { application, email } = await enrolFactor(service, await createUser());
    await sender.drained();
    const earlierMails = mailServer.received.length;
    const page = await openApplication();
    await begin(page);
    await page.locator("#code-section summary").click();
    await page.fill("#code-email", email);
    await page.keyboard.press("Enter");
    await page.fill("#code", await findInMail(email, /^\d{8}(?=\r?$)/m, earlierMails));
    await page.keyboard.press("Enter");
    await page.locator("#factor").waitFor();
    await page.fill("#factor-code", application.at(1));
    await page.keyboard.press("Enter");
    await expectReturn(page, email);
  });
});

/** The token of a link that was opened in this tab, which keeps it for a reload. */
const tokenOf = (page: Page): Promise<string> => page.evaluate("history.state.token");
