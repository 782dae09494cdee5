/** Passkeys in a real browser with the authenticators of its DevTools, on a phone and on a wide window, and over two replicas. */
import { expect } from "bun:test";
import type { ViewportSize } from "@latchkey/testing/chromium";
import {
  addAuthenticator,
  DESKTOP,
  overflowOf,
  PHONE,
  browserTest as test,
} from "@latchkey/testing/chromium";
import { inFullRun } from "@latchkey/testing/full-run";
import { createVerified } from "../support/passkeys.ts";
import { type Service, startService } from "../support/service.ts";
import { sharedBrowser } from "../support/shared-resources.ts";

/** One port for two replicas with one database, which get the requests in turn. */
async function startReplicas() {
  await using resources = new AsyncDisposableStack();
  const replicas: Service[] = [];
  let requests = 0;
  // Before the replicas, whose configuration has the port.
  const balancer = Bun.serve({
    port: 0,
    fetch(request) {
      const { url = "" } = replicas[requests++ % 2] ?? {};
      return fetch(new Request(url + new URL(request.url).pathname, request), {
        decompress: false,
        redirect: "manual",
      });
    },
  });
  resources.defer(() => balancer.stop(true));
  const { port } = balancer;
  const env = { PASSKEY_ORIGINS: `http://localhost:${port}` };
  const first = resources.use(await startService({ env }));
  const { config, database, sql: query } = first;
  const shared = { url: config.database.url, database, query, [Symbol.asyncDispose]: async () => {} };
  const second = resources.use(await startService({ env, openDatabase: async () => shared }));
  replicas.push(first, second);
  const owned = resources.move();
  const url = `http://localhost:${port}/account/passkeys`;
  return { service: first, url, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/**
 * The browser's conversions from and to JSON are missing or throw, and it takes no signal: an old Safari with the extension of a
 * password manager.
 */
const OLD_BROWSER = `
  delete PublicKeyCredential.signalAllAcceptedCredentials;
  delete PublicKeyCredential.parseCreationOptionsFromJSON;
  delete PublicKeyCredential.parseRequestOptionsFromJSON;
  PublicKeyCredential.prototype.toJSON = () => { throw new TypeError("Illegal invocation"); };
`;

/** Opens the page in a browser with one authenticator. */
async function visit(url: string, viewport: ViewportSize, authenticator: object, script = "") {
  const visit = await (await sharedBrowser()).visit(url, viewport);
  await addAuthenticator(visit.page, authenticator);
  await visit.page.evaluate(script);
  return visit;
}

for (const [name, runner, viewport, authenticator, script, removed, removedFaults] of [
  // The browser has deleted the passkey that the service does not accept any more.
  ["a phone and a platform authenticator", test, PHONE, {}, "", "No passkey was used.", []],
  [
    "a wide window, a roaming authenticator and an old browser",
    inFullRun(test),
    DESKTOP,
    { transport: "usb" },
    OLD_BROWSER,
    "This passkey is not registered here.",
    [expect.stringContaining("401")],
  ],
] as const)
  runner(
    `with ${name}, a user creates a passkey, logs in with it without an e-mail, and removes it`,
    async () => {
      await using replicas = await startReplicas();
      const { email, password } = await createVerified(replicas.service);
      const { page, faults } = await visit(replicas.url, viewport, authenticator, script);
      const press = async (...keys: string[]) => {
        for (const key of keys) await (key.length > 10 ? page.keyboard.type(key) : page.keyboard.press(key));
      };
      // After a login with a passkey, the page asks the service once whether the user has a password.
      const unexpected = () => faults.filter((fault) => !fault.includes("422"));
      const openPasskeys = () => press("Tab", "Tab", "Tab", "Tab", "Enter");
      // With the keyboard alone.
      await press("Tab", email, "Tab", password, "Enter");
      await page.getByText("You are logged in as").waitFor();
      await openPasskeys();
      await press("Tab", "A telephone", "Tab", password, "Enter");
      await page.getByText("“A telephone” is created").waitFor();
      expect(await overflowOf(page)).toBe(0);
      await press("Tab", "Enter");
      await page.getByText("You are logged out.").waitFor();
      await press("Tab", "Tab", "Tab", "Tab", "Tab", "Tab", "Enter");
      await page.getByText("You are logged in as").waitFor();
      await openPasskeys();
      await page.getByText(/used on/).waitFor();
      await page.locator("#passkey-current").waitFor();
      expect(unexpected()).toEqual([]);
      // The field of the password is below the list.
      await press("Tab", "Tab", "Tab", password, "Shift+Tab", "Shift+Tab", "Enter");
      await page.getByText("“A telephone” is removed").waitFor();
      await page.getByText("Log out", { exact: true }).click();
      await page.getByText("Log in with a passkey").click();
      await page.getByText(removed).waitFor();
      expect(unexpected()).toEqual([...removedFaults]);
    },
  );

inFullRun(test).each([
  ["cannot store a passkey", { hasResidentKey: false }],
  ["cannot verify its user", { hasUserVerification: false, isUserVerified: false }],
  ["does not recognise its user", { isUserVerified: false }],
])("with an authenticator that %s, no passkey is created", async (_name, authenticator) => {
  await using replicas = await startReplicas();
  const user = await createVerified(replicas.service);
  const { page } = await visit(replicas.url, PHONE, authenticator);
  await page.fill("#email", user.email);
  await page.fill("#password", user.password);
  await page.keyboard.press("Enter");
  await page.locator("#passkeys-section summary").click();
  await page.fill("#passkey-name", "Phone");
  await page.fill("#passkey-current", user.password);
  await page.getByText("Create a passkey").click();
  await page.locator("#passkey-form").getByText("No passkey was used").waitFor();
  expect(await replicas.service.database.passkeys.list(user.id)).toEqual([]);
});
