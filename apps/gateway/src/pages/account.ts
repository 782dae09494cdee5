/**
 * The pages to which mails link, and the page that requests a reset. Opening a page changes nothing, because mail scanners open
 * links. The script reads the token from the URL's fragment, which browsers send to no server. A click sends the token.
 */
import { EMAIL_MAX_LENGTH, MAILS, PASSWORD_MAX_LENGTH, type Product } from "@latchkey/contracts";
import type { AccountRules } from "../config.ts";
import { mapMembers } from "../map-members.ts";
import type { PageOptions } from "./pages.ts";

/** The page sends the fields of the form to the operation `action`, then shows `success` in place of the form. */
type AccountPage = Readonly<Record<"title" | "action" | "button" | "success", string> & { fields?: string }>;

export const RESET_REQUEST_PATH = "/account/forgot-password";

/** The keys are paths. `MAILS` defines the paths of the pages to which mails link. */
const pagesOf = (rules: AccountRules): Readonly<Record<string, AccountPage>> => ({
  [RESET_REQUEST_PATH]: {
    title: "Forgot your password?",
    action: "/auth/password-reset",
    fields: `<label for="email">E-mail</label>
<input id="email" name="email" type="email" autocomplete="username" maxlength="${EMAIL_MAX_LENGTH}" aria-describedby="error" required>
`,
    button: "Send me a link",
    success: `If an account has this e-mail, a link is on its way. It is valid for ${MAILS.reset.lifetime}.`,
  },
  [MAILS.reset.page]: {
    title: "Choose a new password",
    action: "/auth/password-reset/confirm",
    fields: `<label for="password">New password</label>
<input id="password" name="password" type="password" autocomplete="new-password" minlength="${rules.passwordMinLength}" maxlength="${PASSWORD_MAX_LENGTH}" aria-describedby="rule error" required>
<p id="rule">${rules.passwordMinLength} to ${PASSWORD_MAX_LENGTH} characters.</p>
`,
    button: "Change password",
    success: "Your password is changed. You can log in with it now; all earlier logins have ended.",
  },
  [MAILS.verification.page]: {
    title: "Confirm your e-mail address",
    action: "/auth/email-verification/confirm",
    button: "Confirm",
    success: "Your e-mail address is confirmed.",
  },
  ...(rules.changesEmail && {
    [MAILS["email-change"].page]: {
      title: "Confirm your new e-mail address",
      action: "/auth/email-change/confirm",
      button: "Change e-mail",
      success: "Your e-mail address is changed. You can log in with it now; all earlier logins have ended.",
    },
  }),
});

/** Returns the pages by path. */
export function createAccountPages(
  { name, url }: Product,
  rules: AccountRules,
): Readonly<Record<string, PageOptions>> {
  const product = name === null ? "" : Bun.escapeHTML(name);
  const ifNamed = (html: string): string => (product === "" ? "" : html);
  const wayBack =
    url === null ? "" : ` <a href="${Bun.escapeHTML(url)}">Continue${ifNamed(` to ${product}`)}</a>`;
  return mapMembers(pagesOf(rules), ({ title, action, fields = "", button, success }) => ({
    title: title + ifNamed(` – ${product}`),
    scripts: ["account.js"],
    policy: { "style-src": "'self'", "img-src": "'self'" },
    body: `<main class="account">
${ifNamed(`<p>${product}</p>\n`)}<h1>${title}</h1>
<noscript><p>This page needs JavaScript.</p></noscript>
<form data-action="${action}">
${fields}<button>${button}</button>
</form>
<p id="success" role="status" tabindex="-1" hidden>${success}${wayBack}</p>
<p id="error" role="alert"></p>
<p id="again" hidden><a href="..${RESET_REQUEST_PATH}">Request a new link</a></p>
</main>`,
  }));
}
