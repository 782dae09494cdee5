/** The HTML of every way to log in, and of the registration. `browser/login.ts` shows one step at a time. */
import { type CardContext, emailField, field, form, newPasswordField, unbroken } from "./card.ts";
import { ACCOUNT_PATH, RESET_REQUEST_PATH } from "./links.ts";
import { brandOf, MAIL_MARK, markOf, PASSKEY_MARK } from "./marks.ts";
import { relativeUrl } from "./pages.ts";

export interface ProviderButton {
  readonly name: string;
  readonly issuer: string;
  readonly type: "oidc" | "github";
  /** The text of the button. */
  readonly label: string | null;
}

export interface LoginContext extends CardContext {
  readonly providers: readonly ProviderButton[];
  /** The pages to which providers can send a user. */
  readonly redirectUris: readonly string[];
}

/** How users know the provider. Its label is a sentence of a login, such as "Continue with Example". */
export const nameOfProvider = (provider: ProviderButton): string => brandOf(provider) ?? provider.name;

/** The script shows the buttons only if providers can send users to the address of the page. */
export const providerButtons = (
  { providers, redirectUris }: LoginContext,
  use: "login" | "add",
  textOf: (provider: ProviderButton) => string,
): string[] =>
  providers.map((provider) => {
    const attributes = [
      `data-provider="${provider.name}"`,
      `data-use="${use}"`,
      `data-name="${Bun.escapeHTML(nameOfProvider(provider))}"`,
      `data-pages="${Bun.escapeHTML(redirectUris.join(" "))}"`,
    ];
    return `<button type="button" class="other" ${attributes.join(" ")} hidden>${markOf(provider)}<bdi>${Bun.escapeHTML(textOf(provider))}</bdi></button>`;
  });

const passwordField = ({ texts }: CardContext): string =>
  field({
    ...{ name: "password", label: texts.common.password, type: "password", autocomplete: "current-password" },
    show: texts.common.show,
  });

/** The code is typed into the second form, which the script shows once the first one was accepted. */
const codeLogin = (context: CardContext): string => {
  const { login } = context.texts;
  const code = field({
    ...{ name: "code", label: login.codeLabel, autocomplete: "one-time-code", isNumeric: true },
    rule: login.codeRule,
  });
  return `<details id="code-section" class="way">
<summary class="other">${MAIL_MARK}${login.code}</summary>
${form(`id="code-request-form"`, emailField(context, "code-email"), login.codeRequest)}
${form(`id="code-form" hidden`, code, login.codeButton)}
</details>`;
};

const linksOf = (links: string): string => (links ? `<p class="others">${links}</p>\n` : "");

const otherWays = (or: string, ways: readonly string[]): string =>
  ways.length > 0
    ? `<p class="or"><span>${or}</span></p>\n<div class="ways">\n${ways.join("\n")}\n</div>\n`
    : "";

function loginStep(context: LoginContext, path: string, title: string): string {
  const { texts, rules } = context;
  const { login } = texts;
  const others = [
    ...(rules.hasPasskeys
      ? [`<button type="button" class="other" id="passkey">${PASSKEY_MARK}${login.passkey}</button>`]
      : []),
    ...providerButtons(
      context,
      "login",
      (provider) => provider.label ?? login.provider(nameOfProvider(provider)),
    ),
    ...(rules.hasEmailLogin ? [codeLogin(context)] : []),
  ];
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
  // The first login with a provider creates the account.
  const providers = providerButtons(
    context,
    "login",
    (provider) => provider.label ?? register.provider(nameOfProvider(provider)),
  );
  const username = field({
    ...{ name: "username", id: "register-username", label: common.username, autocomplete: "off" },
    rule: register.usernameRule,
  });
  const email = emailField(context, "register-email");
  const fields = [email, username, newPasswordField(context, "register-password")].join("\n");
  return `<div id="register" hidden>
<h1>${register.title}</h1>
${form(`id="register-form"`, fields, register.button)}
${otherWays(login.or, providers)}<p class="others"><a href="#login">${register.login}</a></p>
</div>
<div id="confirm" tabindex="-1" hidden>
<h1>${register.confirmTitle}</h1>
<p role="status">${register.confirm}</p>
<p><a href="#login">${register.confirmed}</a></p>
</div>`;
}

/** Asks for a code once a login needs a second factor. */
const factorStep = ({ texts: { login } }: CardContext): string => `<div id="factor" hidden>
<h1>${login.factorTitle}</h1>
<p>${login.factorIntro}</p>
${form(
  `id="factor-form"`,
  field({
    ...{ name: "code", id: "factor-code", label: login.factorLabel, autocomplete: "one-time-code" },
    rule: login.factorRule,
  }),
  login.factorButton,
)}
<p class="others"><button type="button" class="link" id="factor-cancel">${login.cancel}</button></p>
</div>`;

interface LoginPlace {
  /** @default that of the account */
  readonly path?: string;
  /** What the login is for, as HTML. */
  readonly title?: string;
}

export const loginSteps = (
  context: LoginContext,
  { path = ACCOUNT_PATH, title = context.texts.login.title }: LoginPlace = {},
): string =>
  unbroken(`<div id="visitor" hidden>
${loginStep(context, path, title)}
${context.rules.acceptsRegistrations ? registrationStep(context) : ""}
${context.rules.hasSecondFactor ? factorStep(context) : ""}
</div>`);
