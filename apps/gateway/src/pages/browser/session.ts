/** The client of the pages. The tab keeps the token, until it expires: `sessionStorage` also returns with a tab that is opened again. */
import { createClient, type LatchkeyError } from "@latchkey/client";
import { ROOT } from "./page.ts";
import { forgetTab } from "./tab.ts";

/** What the token says of its user and of its login. The cast is safe because the service signs tokens with these claims. */
export function claimsOf(token: string | undefined): { readonly sub?: string; readonly acr?: string } {
  const [, claims] = token?.split(".") ?? [];
  return JSON.parse(claims ? atob(claims.replaceAll("-", "+").replaceAll("_", "/")) : "{}") as {
    sub?: string;
    acr?: string;
  };
}

/** @param onSessionEnd called after the service has ended the login */
export function createTabClient(onSessionEnd?: (error: LatchkeyError) => void) {
  const client = createClient({
    baseUrl: ROOT,
    storage: () => sessionStorage,
    renewsExpiredTokens: false,
    onSessionEnd,
  });
  const { tokenExpiresAt } = client;
  if (tokenExpiresAt && tokenExpiresAt.getTime() <= Date.now()) {
    client.logout();
    forgetTab();
  }
  return client;
}
