/** The HTML of every way to log in, and of the registration. `browser/login.ts` shows one step at a time. */
import { type CardContext, emailField, field, form, newPasswordField, unbroken } from "./card.ts";
import { ACCOUNT_PATH, RESET_REQUEST_PATH } from "./links.ts";
import { brandOf, markOf } from "./marks.ts";
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

/** How users know the provider. */
export const nameOfProvider = (provider: ProviderButton): string =>
  brandOf(provider) ?? provider.label ?? provider.name;

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
<summary class="other">${login.code}</summary>
${form(`id="code-request-form"`, emailField(context, "code-email"), login.codeRequest)}
${form(`id="code-form" hidden`, code, login.codeButton)}
</details>`;
};

function loginStep(context: LoginContext, path: string, title: string): string {
  const { texts, rules } = context;
  const { login } = texts;
  const others = [
    ...(rules.hasPasskeys
      ? [`<button type="button" class="other" id="passkey">${login.passkey}</button>`]
      : []),
    ...providerButtons(
      context,
      "login",
      (provider) => provider.label ?? login.provider(nameOfProvider(provider)),
    ),
    ...(rules.hasEmailLogin ? [codeLogin(context)] : []),
  ];
  const links = [
    ...(rules.sendsMail ? [`<a href="${relativeUrl(path, RESET_REQUEST_PATH)}">${login.forgotten}</a>`] : []),
    ...(rules.acceptsRegistrations ? [`<a href="#create">${login.create}</a>`] : []),
  ];
  return `<div id="login">
<h1>${title}</h1>
${form(`id="login-form"`, `${emailField(context)}\n${passwordField(context)}`, login.button)}
${others.length > 0 ? `<p class="or"><span>${login.or}</span></p>\n<div class="ways">\n${others.join("\n")}\n</div>` : ""}
${links.length > 0 ? `<p class="others">${links.join("\n")}</p>` : ""}
</div>`;
}

function registrationStep(context: LoginContext): string {
  const { common, register } = context.texts;
  const username = field({
    ...{ name: "username", id: "register-username", label: common.username, autocomplete: "off" },
    rule: register.usernameRule,
  });
  const email = emailField(context, "register-email");
  const fields = [email, username, newPasswordField(context, "register-password")].join("\n");
  return `<div id="register" hidden>
<h1>${register.title}</h1>
${form(`id="register-form"`, fields, register.button)}
<p class="others"><a href="#login">${register.login}</a></p>
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
  unbroken(`<div id="visitor">
${loginStep(context, path, title)}
${context.rules.acceptsRegistrations ? registrationStep(context) : ""}
${context.rules.hasSecondFactor ? factorStep(context) : ""}
</div>`);
