/** The page on which users log in and change their account. Leaving or reloading the page discards the token. */
import type { Product } from "@latchkey/contracts";
import type { AccountRules } from "../config.ts";
import type { AssetName } from "./assets.ts";
import { type CardPages, createCard, emailField, field, form, unbroken } from "./card.ts";
import { ACCOUNT_PATH, newPasswordField, otherLogins, RESET_REQUEST_PATH } from "./links.ts";
import { type PageOptions, relativeUrl } from "./pages.ts";

interface Section {
  readonly id: string;
  readonly title: string;
  /** Whether the script shows the present value beside the title. */
  readonly hasValue?: boolean;
  /** What the action changes and ends, as HTML. */
  readonly effect: string;
  readonly content: string;
}

const section = ({ id, title, hasValue = false, effect, content }: Section): string =>
  `<details name="section" id="${id}-section">
<summary><h2>${title}</h2>${hasValue ? `<span class="value" id="${id}-value"></span>` : ""}</summary>
<p>${effect}</p>
${content}
</details>`;

/** If the service accepts a request without it, the page still asks for it. Users without a password leave it empty. */
const currentPasswordField = (id: string, { requireCurrentPassword }: AccountRules): string =>
  field({
    name: "current_password",
    id,
    label: "Current password",
    type: "password",
    autocomplete: "current-password",
    isRequired: !requireCurrentPassword,
  });

const check = (name: string, label: string, attributes = ""): string =>
  `<div class="field check">
<p class="error" id="${name}-error"></p>
<label><input id="${name}" name="${name}" type="checkbox" aria-describedby="${name}-error"${attributes}>${label}</label>
</div>`;

/** Tells a password manager to which login the password belongs. */
const HIDDEN_USERNAME = `<input class="username" type="email" autocomplete="username" aria-label="E-mail" readonly hidden>`;

const USERNAME: Section = {
  id: "username",
  title: "Username",
  hasValue: true,
  effect: "This ends nothing: all logins continue.",
  content: form(
    `id="username-form"`,
    field({ name: "username", id: "new-username", label: "New username", autocomplete: "off" }),
    "Change username",
  ),
};

function passwordSection(rules: AccountRules): Section {
  const fields = [HIDDEN_USERNAME, currentPasswordField("password-current", rules), newPasswordField(rules)];
  const logins = otherLogins(rules);
  const kept = logins ? ` Your ${logins} stay, unless you remove them, too.` : "";
  if (logins) fields.push(check("remove_passkeys", `Remove all my ${logins}, too`));
  return {
    id: "password",
    title: "Password",
    effect: `This ends all other logins, but not this one.${kept}`,
    content: form(`id="password-form"`, fields.join("\n"), "Change password"),
  };
}

function emailSection(rules: AccountRules): Section {
  const logins = otherLogins(rules);
  const newEmail = { name: "email", id: "new-email", label: "New e-mail", type: "email" } as const;
  return {
    id: "email",
    title: "E-mail",
    hasValue: true,
    effect: `We mail a link to your present address, if it is confirmed, and then one to the new address. Until you open them, nothing changes. Then all logins end${logins ? `, and your ${logins} are removed` : ""}. To cancel a change, enter your present address.`,
    content: form(
      `id="email-form"`,
      `${field({ ...newEmail, autocomplete: "email" })}\n${currentPasswordField("email-current", rules)}`,
      "Send me a link",
    ),
  };
}

function passkeySection(rules: AccountRules): Section {
  const name = { name: "name", id: "passkey-name", label: "Name of a new passkey" };
  return {
    id: "passkeys",
    title: "Passkeys",
    hasValue: true,
    effect:
      "With a passkey, you log in with your fingerprint, your face or the code of your device. If you remove one, logins that you made with it continue.",
    content: `<ul class="removable" id="passkey-list"></ul>
${form(
  `id="passkey-form"`,
  `${field({ ...name, autocomplete: "off" })}\n${currentPasswordField("passkey-current", rules)}`,
  "Create a passkey",
)}`,
  };
}

const identitySection = (rules: AccountRules): Section => ({
  id: "identities",
  title: "Other logins",
  hasValue: true,
  effect:
    "With them, you log in without a password of this account. If you remove one, logins that you made with it continue.",
  content: `<form id="identity-form" novalidate><p class="problem" role="alert" tabindex="-1"></p>
${currentPasswordField("identity-current", rules)}</form>
<ul class="removable" id="identity-list"></ul>`,
});

const loginsSection = (rules: AccountRules): Section => {
  const logins = otherLogins(rules);
  return {
    id: "logins",
    title: "Log out everywhere",
    effect: `This ends all logins on all devices, also this one. ${logins ? `Your password and your ${logins} stay` : "Your password stays"}.`,
    content: form(`id="logins-form"`, "", "Log out everywhere"),
  };
};

const deletionSection = (rules: AccountRules): Section => {
  const logins = otherLogins(rules);
  return {
    id: "deletion",
    title: "Delete account",
    effect: `This deletes your account${logins ? ` with its ${logins}` : ""} and ends all logins. It cannot be undone.`,
    content: form(
      `id="deletion-form"`,
      check("confirmed", "I want to delete my account", ` required data-missing="Tick this box first."`),
      "Delete my account",
      "danger",
    ),
  };
};

const sectionsOf = (rules: AccountRules): Section[] => [
  USERNAME,
  passwordSection(rules),
  ...(rules.changesEmail ? [emailSection(rules)] : []),
  ...(rules.hasPasskeys ? [passkeySection(rules)] : []),
  ...(rules.hasIdentities ? [identitySection(rules)] : []),
  loginsSection(rules),
  deletionSection(rules),
];

/** The code is typed into the second form, which the script shows once the first one was accepted. */
const CODE_LOGIN = `<details id="code-section">
<summary><h2>Log in with a code from a mail</h2></summary>
${form(`id="code-request-form"`, emailField("code-email"), "Mail me a code")}
${form(
  `id="code-form" hidden`,
  field({
    name: "code",
    label: "Code",
    autocomplete: "one-time-code",
    isNumeric: true,
    rule: "The eight digits in the mail.",
  }),
  "Log in with the code",
)}
</details>`;

/** The script shows the form once a login needs a second factor. */
const FACTOR_LOGIN = form(
  `id="factor-form" hidden`,
  field({
    name: "code",
    id: "factor-code",
    label: "Code of your app",
    autocomplete: "one-time-code",
    rule: "The six digits that it shows, or a recovery code.",
  }),
  "Continue",
);

/** The script shows the buttons only if providers can send users to the address of the page. */
const providerButtons = ({ providers, redirectUris }: AccountPageOptions): string[] =>
  providers.map(
    ({ name, label }) =>
      `<button type="button" class="link" data-provider="${name}" data-pages="${Bun.escapeHTML(redirectUris.join(" "))}" hidden>Log in with ${Bun.escapeHTML(label ?? name)}</button>`,
  );

export interface AccountPageOptions {
  readonly product: Product;
  /** On these depends which actions the page offers, and what it says. */
  readonly rules: AccountRules;
  /** The OpenID Connect providers; the label is the text of the button. */
  readonly providers: readonly { readonly name: string; readonly label: string | null }[];
  /** The pages to which providers can send a user. */
  readonly redirectUris: readonly string[];
}

interface AccountCardOptions {
  readonly path: string;
  readonly title: string;
  /** Above the login, as HTML. */
  readonly heading: string;
  /** HTML before the login. */
  readonly before: string;
  /** In addition to those of the account. */
  readonly scripts: readonly AssetName[];
}

export const createAccountPage = (options: AccountPageOptions): CardPages => ({
  [ACCOUNT_PATH]: createAccountCard(options, {
    path: ACCOUNT_PATH,
    title: "Your account",
    heading: "Log in to your account",
    before: "",
    scripts: [],
  }),
});

/** A page that logs in, and then shows the account or does what another script of it does instead. */
export function createAccountCard(options: AccountPageOptions, card: AccountCardOptions): PageOptions {
  const { product, rules } = options;
  const { path, title, heading, before } = card;
  const { hasPasskeys, sendsMail } = rules;
  const forgotten = relativeUrl(path, RESET_REQUEST_PATH);
  const others = [
    ...(hasPasskeys
      ? [`<button type="button" class="link" id="passkey">Log in with a passkey</button>`]
      : []),
    ...providerButtons(options),
    ...(sendsMail ? [`<a href="${forgotten}">Forgot your password?</a>`] : []),
  ];
  const password = field({
    name: "password",
    label: "Password",
    type: "password",
    autocomplete: "current-password",
  });
  const unverified = `<p id="unverified" hidden>Your e-mail address is not confirmed yet. <button type="button" class="link" id="verify">Mail me a new link</button></p>\n`;
  return createCard({
    path,
    title,
    product,
    scripts: [
      ...(hasPasskeys ? (["webauthn.js"] as const) : []),
      "account.js",
      ...(rules.hasEmailLogin || rules.hasIdentities ? (["other-logins.js"] as const) : []),
      ...card.scripts,
    ],
    // The text before can contain URLs, which `unbroken` would change.
    content: `${before}${unbroken(`<p class="status" id="status" role="status" tabindex="-1"></p>
<div id="visitor">
<h1>${heading}</h1>
${form(`id="login-form"`, `${emailField()}\n${password}`, "Log in")}
<p class="others">${others.join("\n")}</p>
${rules.hasSecondFactor ? FACTOR_LOGIN : ""}${rules.hasEmailLogin ? CODE_LOGIN : ""}</div>
<div id="user" hidden>
<h1 id="welcome" tabindex="-1">Your account</h1>
<p>You are logged in as <strong id="identity"></strong>. <button type="button" class="link" id="logout">Log out</button></p>
<p class="rule">Leaving or reloading this page also logs you out.</p>
${sendsMail ? unverified : ""}<p class="problem" id="problem" role="alert" tabindex="-1"></p>
${sectionsOf(rules).map(section).join("\n")}
</div>`)}`,
  });
}
