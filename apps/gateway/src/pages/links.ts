/**
 * The pages to which mails link, and the page that requests a reset. Opening a page changes nothing, because mail scanners open
 * links. The script reads the token from the URL's fragment, which browsers send to no server. A click sends the token.
 */
import { MAILS } from "@latchkey/contracts";
import { mapMembers } from "../map-members.ts";
import {
  type CardContext,
  type CardPages,
  continueLink,
  createCard,
  emailField,
  field,
  form,
  newPasswordField,
  otherLogins,
  unbroken,
} from "./card.ts";
import { relativeUrl } from "./pages.ts";

/** Where a page leads when it can do no more. */
interface Way {
  readonly text: string;
  readonly path: string;
}

interface LinkPage {
  readonly title: string;
  /** What the script does with the fields and, except for a request, with the token (`browser/links.ts`). */
  readonly action: "request" | "password" | "verification" | "approval" | "change";
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

/** The keys are paths. `MAILS` defines the paths of the pages to which mails link. */
function pagesOf(context: CardContext): Readonly<Record<string, LinkPage>> {
  const { links } = context.texts;
  const removes = links.andRemoves(otherLogins(context));
  const logIn: Way = { text: links.logIn, path: ACCOUNT_PATH };
  const newReset: Way = { text: links.newReset, path: RESET_REQUEST_PATH };
  const newChange: Way = { text: links.newChange, path: ACCOUNT_PATH };
  return {
    [RESET_REQUEST_PATH]: {
      ...links.request,
      action: "request",
      fields: emailField(context),
      success: links.request.success(MAILS.reset.lifetime),
      renewal: newReset,
    },
    [MAILS.reset.page]: {
      ...links.reset,
      action: "password",
      intro: links.reset.intro(removes),
      fields: chosenPassword(context),
      next: logIn,
      renewal: newReset,
    },
    [MAILS.invitation.page]: {
      ...links.invitation,
      action: "password",
      fields: chosenPassword(context),
      next: logIn,
      renewal: newReset,
    },
    [MAILS.verification.page]: {
      ...links.verification,
      action: "verification",
      next: logIn,
      renewal: { text: links.newLink, path: ACCOUNT_PATH },
    },
    ...(context.rules.changesEmail && {
      [MAILS["email-change-approval"].page]: {
        ...links.approval,
        action: "approval",
        intro: links.approval.intro(removes),
        success: links.approval.success(MAILS["email-change"].lifetime),
        renewal: newChange,
      },
      [MAILS["email-change"].page]: {
        ...links.change,
        action: "change",
        intro: links.change.intro(removes),
        next: logIn,
        renewal: newChange,
      },
    }),
  };
}

/** The e-mail is for the login that follows, and for the password manager. */
const chosenPassword = (context: CardContext): string => `${newPasswordField(context)}
${field({
  name: null,
  id: "username",
  type: "email",
  autocomplete: "username",
  label: context.texts.common.email,
  rule: context.texts.links.optionalEmail,
  isRequired: false,
})}`;

/** Returns the pages by path. */
export const createLinkPages = (context: CardContext): CardPages =>
  mapMembers(pagesOf(context), (page, path) => {
    const { title, action, intro, fields = "", button, success, next, renewal } = page;
    const link = (way: Way) => `<a href="${relativeUrl(path, way.path)}">${unbroken(way.text)}</a>`;
    return createCard({
      path,
      title,
      script: "links.js",
      product: context.product,
      texts: context.texts,
      assets: context.assets,
      content: `<h1>${unbroken(title)}</h1>
${form(`id="link-form" data-action="${action}"`, unbroken(`<p>${intro}</p>\n${fields}`), unbroken(button))}
<div id="success" tabindex="-1" hidden>
<p role="status" class="status">${unbroken(success)}</p>
<p>${next ? link(next) : ""}${continueLink(context)}</p>
</div>
<div id="dead" tabindex="-1" hidden>
<p role="alert" class="problem">${unbroken(context.texts.links.dead)}</p>
<p>${link(renewal)}</p>
</div>
${path === RESET_REQUEST_PATH ? `<p class="others">${link({ text: context.texts.links.logIn, path: ACCOUNT_PATH })}</p>` : ""}`,
    });
  });
