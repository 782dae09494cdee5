/** The HTML of every way to log in, and of the registration. `browser/login.ts` shows one step at a time. */
import { type CardContext, emailField, field, form, newPasswordField, unbroken } from "./card.ts";
import type { FeaturePages } from "./feature-pages.ts";
import { ACCOUNT_PATH, RESET_REQUEST_PATH } from "./links.ts";
import { relativeUrl } from "./pages.ts";

export interface LoginContext extends CardContext {
  /** Of the features that are on. */
  readonly featurePages: readonly FeaturePages[];
}

const passwordField = ({ texts }: CardContext): string =>
  field({
    name: "password",
    label: texts.common.password,
    type: "password",
    autocomplete: "current-password",
    show: texts.common.show,
  });

const linksOf = (links: string): string => (links ? `<p class="others">${links}</p>\n` : "");

const otherWays = (or: string, ways: readonly string[]): string =>
  ways.length > 0
    ? `<p class="or"><span>${or}</span></p>\n<div class="ways">\n${ways.join("\n")}\n</div>\n`
    : "";

function loginStep(context: LoginContext, path: string, title: string): string {
  const { texts, rules, featurePages } = context;
  const { login } = texts;
  const others = featurePages.flatMap((pages) => pages.loginWays?.(context) ?? []);
  const forgotten = rules.sendsMail
    ? `<a id="forgotten" href="${relativeUrl(path, RESET_REQUEST_PATH)}">${login.forgotten}</a>`
    : "";
  const create = rules.acceptsRegistrations ? `<a href="#create">${login.create}</a>` : "";
  // A forgotten password is not looked for below the other ways.
  const [afterForm, atEnd] = others.length > 0 ? [forgotten, create] : [`${forgotten}\n${create}`.trim(), ""];
  return `<div id="login">
<h1>${title}</h1>
${form(`id="login-form"`, `${emailField(context)}\n${passwordField(context)}`, login.button)}
${linksOf(afterForm)}${otherWays(login.or, others)}${linksOf(atEnd)}
</div>`;
}

function registrationStep(context: LoginContext): string {
  const { common, login, register } = context.texts;
  const ways = context.featurePages.flatMap((pages) => pages.registrationWays?.(context) ?? []);
  const username = field({
    name: "username",
    id: "register-username",
    label: common.username,
    autocomplete: "off",
    rule: register.usernameRule,
  });
  const email = emailField(context, "register-email");
  const fields = [email, username, newPasswordField(context, "register-password")].join("\n");
  return `<div id="register" hidden>
<h1>${register.title}</h1>
${form(`id="register-form"`, fields, register.button)}
${otherWays(login.or, ways)}<p class="others"><a href="#login">${register.login}</a></p>
</div>
<div id="confirm" tabindex="-1" hidden>
<h1>${register.confirmTitle}</h1>
<p role="status">${register.confirm}</p>
<p><a href="#login">${register.confirmed}</a></p>
</div>`;
}

interface LoginPlace {
  /** @default that of the account */
  readonly path?: string;
  /** What the login is for, as HTML. */
  readonly title?: string;
}

export const loginSteps = (
  context: LoginContext,
  { path = ACCOUNT_PATH, title = context.texts.login.title }: LoginPlace = {},
): string => {
  const further = context.featurePages.flatMap((pages) => pages.loginStep?.(context) ?? []);
  return unbroken(`<div id="visitor" hidden>
${loginStep(context, path, title)}
${context.rules.acceptsRegistrations ? registrationStep(context) : ""}
${further.join("\n")}
</div>`);
};
