import type { Page } from "@latchkey/testing/chromium";

/** Adds an authenticator of the DevTools protocol to the browser of the page: by default, one of the device that recognises its user. */
export async function addAuthenticator(page: Page, options: object = {}): Promise<void> {
  const devTools = await page.context().newCDPSession(page);
  await devTools.send("WebAuthn.enable");
  await devTools.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      automaticPresenceSimulation: true,
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      ...options,
    },
  });
}
