/**
 * The pages to which mails link, and the one that requests a reset. Opening a page changes nothing, because scanners open links:
 * the script reads the token from the fragment, which no server receives, and sends it after a click.
 */
import { EMAIL_MAX_LENGTH, PASSWORD_MAX_LENGTH } from "@latchkey/contracts";
import { PAGE_PATHS } from "../mail/messages.ts";
import type { PageOptions } from "./pages.ts";

/** The operation `action` receives the members of the form, in place of which `success` is displayed then. */
type AccountPage = Readonly<Record<"title" | "action" | "fields" | "button" | "success", string>>;

const RESET_REQUEST_PATH = "/account/forgot-password";

const createAccountPage = ({ title, action, fields, button, success }: AccountPage): PageOptions => ({
  title,
  scripts: ["account.js"],
  policy: { "style-src": "'self'", "img-src": "'self'" },
  body: `<main class="account">
<h1>${title}</h1>
<noscript><p>This page needs JavaScript.</p></noscript>
<form data-action="${action}">
${fields}<button>${button}</button>
</form>
<p id="success" role="status" tabindex="-1" hidden>${success}</p>
<p id="error" role="alert"></p>
<p id="again" hidden><a href="${RESET_REQUEST_PATH}">Request a new link</a></p>
</main>`,
});

/** By path. */
export const ACCOUNT_PAGES: Readonly<Record<string, PageOptions>> = {
  [RESET_REQUEST_PATH]: createAccountPage({
    title: "Forgot your password?",
    action: "/auth/password-reset",
    fields: `<label for="email">E-mail</label>
<input id="email" name="email" type="email" autocomplete="username" maxlength="${EMAIL_MAX_LENGTH}" aria-describedby="error" required>
`,
    button: "Send me a link",
    success: "If an account has this e-mail, a link is on its way. It is valid for 60 minutes.",
  }),
  [PAGE_PATHS.reset]: createAccountPage({
    title: "Choose a new password",
    action: "/auth/password-reset/confirm",
    fields: `<label for="password">New password</label>
<input id="password" name="password" type="password" autocomplete="new-password" minlength="8" maxlength="${PASSWORD_MAX_LENGTH}" aria-describedby="rule error" required>
<p id="rule">8 to ${PASSWORD_MAX_LENGTH} characters.</p>
`,
    button: "Change password",
    success: "Your password is changed. You can log in with it now; all earlier logins have ended.",
  }),
  [PAGE_PATHS.verification]: createAccountPage({
    title: "Confirm your e-mail address",
    action: "/auth/email-verification/confirm",
    fields: "",
    button: "Confirm",
    success: "Your e-mail address is confirmed.",
  }),
};
