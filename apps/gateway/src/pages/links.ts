/**
 * The pages to which mails link, and the page that requests a reset. Opening a page changes nothing, because mail scanners open
 * links. The script reads the token from the URL's fragment, which browsers send to no server. A click sends the token.
 */
import { MAILS, PASSWORD_MAX_LENGTH, type Product } from "@latchkey/contracts";
import type { AccountRules } from "../config.ts";
import { mapMembers } from "../map-members.ts";
import { type CardPages, continueLink, createCard, emailField, field, form, unbroken } from "./card.ts";
import { relativeUrl } from "./pages.ts";

/** Where a page leads when it can do no more. */
interface Way {
  readonly text: string;
  readonly path: string;
}

interface LinkPage {
  readonly title: string;
  /** The operation to which the page sends its fields and, if it ends with `/confirm` or `/approve`, the token. */
  readonly action: string;
  /** What the button does and ends. */
  readonly intro: string;
  readonly fields?: string;
  readonly button: string;
  readonly success: string;
  readonly next?: Way;
  /** The way on from a link that is expired or used. */
  readonly renewal: Way;
}

export const ACCOUNT_PATH = "/account";
export const RESET_REQUEST_PATH = "/account/forgot-password";

/** What users can have to log in besides the password, such as `passkeys and logins with providers`; null: nothing. */
export const otherLogins = ({ hasPasskeys, hasIdentities }: AccountRules): string | null =>
  [...(hasPasskeys ? ["passkeys"] : []), ...(hasIdentities ? ["logins with providers"] : [])].join(" and ") ||
  null;

const andRemovesLogins = (rules: AccountRules): string => {
  const logins = otherLogins(rules);
  return logins ? ` and removes your ${logins}` : "";
};

const LOG_IN: Way = { text: "Log in", path: ACCOUNT_PATH };
const NEW_RESET: Way = { text: "Request a new link", path: RESET_REQUEST_PATH };
const newLink = (what: string): Way => ({ text: `Log in to ${what}`, path: ACCOUNT_PATH });

/** The keys are paths. `MAILS` defines the paths of the pages to which mails link. */
const pagesOf = (rules: AccountRules): Readonly<Record<string, LinkPage>> => ({
  [RESET_REQUEST_PATH]: {
    title: "Forgot your password?",
    action: "auth/password-reset",
    intro: "Enter the e-mail of your account. We send you a link with which you can choose a new password.",
    fields: emailField(),
    button: "Send me a link",
    success: `If an account has this e-mail, a link is on its way. It is valid for ${MAILS.reset.lifetime}.`,
    renewal: NEW_RESET,
  },
  [MAILS.reset.page]: {
    title: "Choose a new password",
    action: "auth/password-reset/confirm",
    intro: `This ends all earlier logins${andRemovesLogins(rules)}.`,
    fields: chosenPassword(rules),
    button: "Change password",
    success: "Your password is changed. You can log in with it now; all earlier logins have ended.",
    next: LOG_IN,
    renewal: NEW_RESET,
  },
  [MAILS.invitation.page]: {
    title: "Welcome to your account",
    action: "auth/password-reset/confirm",
    intro: "You were invited. Choose a password: it confirms your e-mail address, and you log in with both.",
    fields: chosenPassword(rules),
    button: "Choose password",
    success: "Your password is set. You can log in now.",
    next: LOG_IN,
    renewal: NEW_RESET,
  },
  [MAILS.verification.page]: {
    title: "Confirm your e-mail address",
    action: "auth/email-verification/confirm",
    intro: "This confirms that you receive the mails of your account.",
    button: "Confirm",
    success: "Your e-mail address is confirmed.",
    renewal: newLink("get a new link"),
  },
  ...(rules.changesEmail && {
    [MAILS["email-change-approval"].page]: {
      title: "Approve your new e-mail address",
      action: "auth/email-change/approve",
      intro: `We then mail a link to the new address. Opening it ends all logins${andRemovesLogins(rules)}, and you log in with the new e-mail. If you did not ask for this, leave this page and change your password.`,
      button: "Approve",
      success: `A link is on its way to the new address. It is valid for ${MAILS["email-change"].lifetime}. Until it is opened, nothing changes.`,
      renewal: newLink("change your e-mail again"),
    },
    [MAILS["email-change"].page]: {
      title: "Confirm your new e-mail address",
      action: "auth/email-change/confirm",
      intro: `From then on, you log in with the new e-mail. This ends all earlier logins${andRemovesLogins(rules)}. Your password stays the same.`,
      button: "Change e-mail",
      success: "Your e-mail address is changed. You can log in with it now; all earlier logins have ended.",
      next: LOG_IN,
      renewal: newLink("change your e-mail again"),
    },
  }),
});

export const newPasswordField = ({ passwordMinLength }: AccountRules): string =>
  field({
    name: "password",
    id: "new-password",
    label: "New password",
    type: "password",
    autocomplete: "new-password",
    rule: `${passwordMinLength} to ${PASSWORD_MAX_LENGTH} characters.`,
  });

/** The e-mail is only for the password manager. */
const chosenPassword = (rules: AccountRules): string => `${newPasswordField(rules)}
${field({
  ...{ name: null, id: "username", label: "E-mail", type: "email", autocomplete: "username" },
  rule: "Optional. Your password manager saves the password with it.",
  isRequired: false,
})}`;

/** Returns the pages by path. */
export const createLinkPages = (product: Product, rules: AccountRules): CardPages =>
  mapMembers(pagesOf(rules), (page, path) => {
    const { title, action, intro, fields = "", button, success, next, renewal } = page;
    const link = (way: Way) => `<a href="${relativeUrl(path, way.path)}">${unbroken(way.text)}</a>`;
    const isRequest = path === RESET_REQUEST_PATH;
    return createCard({
      ...{ path, title, product },
      scripts: ["links.js"],
      content: `<h1>${unbroken(title)}</h1>
${form(
  `data-action="${action}"${isRequest ? "" : ` data-needs-token="true"`}`,
  unbroken(`<p>${intro}</p>\n${fields}`),
  unbroken(button),
)}
${isRequest ? `<p class="others">${link(LOG_IN)}</p>` : ""}
<div id="success" tabindex="-1" hidden>
<p role="status" class="status">${unbroken(success)}</p>
<p>${next ? link(next) : ""}${continueLink(product)}</p>
</div>
<div id="dead" tabindex="-1" hidden>
<p role="alert" class="problem">This link is not valid any more. It may have been used, or a newer one sent.</p>
<p>${link(renewal)}</p>
</div>`,
    });
  });
