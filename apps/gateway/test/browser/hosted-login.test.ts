/** Hosted login in a real browser: from an application to the page, and back with a code that gives a token. */
import { expect } from "bun:test";
import type { ExchangedToken } from "@latchkey/contracts";
import { browserTest, DESKTOP, PHONE } from "@latchkey/testing/chromium";
import { inFullRun } from "@latchkey/testing/full-run";
import { createApplication, createVerified, mailedCode } from "../support/factors.ts";
import { CALLBACK, CHALLENGE, exchange, startWithClients } from "../support/hosted-login.ts";
import type { Service, TestUser } from "../support/service.ts";
import { sharedBrowser } from "../support/shared-resources.ts";

const test = inFullRun(browserTest);

const addressOf = ({ url }: Service, changes: Readonly<Record<string, string>> = {}) =>
  `${url}/account/authorize?${new URLSearchParams({
    ...{ response_type: "code", client_id: "web", redirect_uri: CALLBACK, state: "a&b" },
    ...{ code_challenge: CHALLENGE, code_challenge_method: "S256", ...changes },
  })}`;

type Page = Awaited<ReturnType<Awaited<ReturnType<typeof sharedBrowser>>["visit"]>>["page"];

async function logIn(page: Page, { email, password }: TestUser): Promise<void> {
  await page.locator("#email").fill(email);
  await page.locator("#password").fill(password);
  await page.keyboard.press("Enter");
}

/** The application answers every request to its pages. Returns the address of the first one. */
async function answerAs(page: Page, origin: string): Promise<URL> {
  const reached = Promise.withResolvers<URL>();
  await page.route(`${origin}/**`, (route) => {
    reached.resolve(new URL(route.request().url()));
    expect(route.request().headers().referer).toBeUndefined();
    return route.fulfill({ body: "the application" });
  });
  return reached.promise;
}

test.each([PHONE, DESKTOP])(
  "a login returns to a web application at once, and back shows no login: %o",
  async (viewport) => {
    await using service = await startWithClients();
    const user = await service.createUser();
    const { page } = await (await sharedBrowser()).visit(addressOf(service), viewport);
    const reached = answerAs(page, "https://app.example.com");
    expect(await page.getByRole("heading").first().textContent()).toBe("Log in to continue to Example");
    await logIn(page, user);
    const { searchParams } = await reached;
    expect([searchParams.get("state"), searchParams.get("iss")]).toEqual([
      "a&b",
      "https://accounts.example.com",
    ]);
    const response = await exchange(service, searchParams.get("code") ?? "");
    response.expect<ExchangedToken>(200);
    await page.getByText("the application").waitFor();
    // Another login in the same tab asks again.
    await page.goto(addressOf(service, { login_hint: user.email }));
    expect(await page.locator("#email").inputValue()).toBe(user.email);
    expect(await page.locator("#password").isVisible()).toBe(true);
  },
);

test("without the second factor that an application asks for, the page offers to set one up, or returns an error by a click", async () => {
  await using service = await startWithClients({ env: { AUTH_SECOND_FACTOR: "true" } });
  const user = await service.createUser();
  const { page } = await (await sharedBrowser()).visit(addressOf(service, { acr_values: "2fa" }), PHONE);
  const reached = answerAs(page, "https://app.example.com");
  await logIn(page, user);
  await page.getByRole("link", { name: "Return to Example without it" }).click();
  const { searchParams } = await reached;
  expect([searchParams.get("error"), searchParams.get("code")]).toEqual([
    "unmet_authentication_requirements",
    null,
  ]);
});

test("a program on the user's machine is named, and gets the code by a click", async () => {
  await using service = await startWithClients();
  const user = await service.createUser();
  const redirect_uri = "http://127.0.0.1:51234/callback";
  const address = addressOf(service, { client_id: "native", redirect_uri });
  const { page } = await (await sharedBrowser()).visit(address, PHONE);
  const reached = answerAs(page, "http://127.0.0.1:51234");
  await logIn(page, user);
  await page.getByRole("link", { name: "Return to Example for computers" }).click();
  const { searchParams } = await reached;
  const code = searchParams.get("code") ?? "";
  (await exchange(service, code, { client_id: "native", redirect_uri })).expect<ExchangedToken>(200);
});

test("a user without the second factor that the application asks for sets one up, and returns with it", async () => {
  await using service = await startWithClients({ env: { AUTH_SECOND_FACTOR: "true" } });
  const user = await createVerified(service);
  const { page } = await (await sharedBrowser()).visit(addressOf(service, { acr_values: "2fa" }), PHONE);
  const reached = answerAs(page, "https://app.example.com");
  await logIn(page, user);
  await page.fill("#factor-current", user.password);
  await page.keyboard.press("Enter");
  await page.getByRole("img", { name: "QR code" }).waitFor();
  const secret = (await page.locator("#factor-secret").textContent())?.replaceAll(" ", "") ?? "";
  await page.fill("#factor-new-code", createApplication(secret).at(0));
  await page.fill("#factor-email-code", await mailedCode(service, user));
  await page.keyboard.press("Enter");
  const saved = page.getByRole("button", { name: "I have saved them" });
  await saved.waitFor();
  expect(await page.getByText("without it").isVisible()).toBe(false);
  await saved.click();
  const { searchParams } = await reached;
  expect(searchParams.get("error")).toBeNull();
  const response = await exchange(service, searchParams.get("code") ?? "");
  const [, claims = ""] = response.expect<ExchangedToken>(200).access_token.split(".");
  expect(JSON.parse(Buffer.from(claims, "base64url").toString()).acr).toBe("2fa");
});
