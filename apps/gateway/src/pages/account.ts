/** The page on which users log in and change their account. `browser/account.ts` shows what belongs to the user. */
import { type CardPages, createCard, field, form, newPasswordField, otherLogins, unbroken } from "./card.ts";
import { ACCOUNT_PATH } from "./links.ts";
import { type LoginContext, loginSteps } from "./login.ts";
import { currentPasswordField, type Section, section } from "./section.ts";

const check = (name: string, label: string, attributes = ""): string =>
  `<div class="field check">
<p class="error" id="${name}-error"></p>
<label><input id="${name}" name="${name}" type="checkbox" aria-describedby="${name}-error"${attributes}>${label}</label>
</div>`;

/** Tells a password manager to which login the password belongs. */
const hiddenUsername = (label: string): string =>
  `<input class="username" type="email" autocomplete="username" aria-label="${label}" readonly hidden>`;

const usernameSection = ({ texts: { common, account } }: LoginContext): Section => ({
  id: "username",
  title: common.username,
  hasValue: true,
  effect: account.usernameEffect,
  content: form(
    `id="username-form"`,
    field({ name: "username", id: "new-username", label: account.newUsername, autocomplete: "off" }),
    account.changeUsername,
  ),
});

function passwordSection(context: LoginContext): Section {
  const { common, account } = context.texts;
  const logins = otherLogins(context);
  const fields = [
    hiddenUsername(common.email),
    currentPasswordField("password-current", context),
    newPasswordField(context),
    ...(logins ? [check("remove_passkeys", account.removeLogins(logins))] : []),
  ];
  return {
    id: "password",
    title: common.password,
    effect: account.passwordEffect(logins),
    content: form(`id="password-form"`, fields.join("\n"), account.changePassword),
  };
}

function emailSection(context: LoginContext): Section {
  const { common, account } = context.texts;
  const newEmail = { name: "email", id: "new-email", label: account.newEmail, type: "email" } as const;
  return {
    id: "email",
    title: common.email,
    hasValue: true,
    effect: account.emailEffect(otherLogins(context)),
    content: form(
      `id="email-form"`,
      `${field({ ...newEmail, autocomplete: "email" })}\n${currentPasswordField("email-current", context)}`,
      account.sendLink,
    ),
  };
}

const loginsSection = (context: LoginContext): Section => {
  const { account } = context.texts;
  return {
    id: "logins",
    title: account.logOutEverywhere,
    effect: account.logOutEffect(otherLogins(context)),
    content: form(`id="logins-form"`, "", account.logOutEverywhere),
  };
};

const deletionSection = (context: LoginContext): Section => {
  const { account } = context.texts;
  const missing = ` required data-missing="${account.deletionMissing}"`;
  return {
    id: "deletion",
    title: account.deletion,
    effect: account.deletionEffect(otherLogins(context)),
    content: form(
      `id="deletion-form"`,
      check("confirmed", account.deletionConfirm, missing),
      account.deletionButton,
      "danger",
    ),
  };
};

const sectionsOf = (context: LoginContext): Section[] => [
  usernameSection(context),
  passwordSection(context),
  ...(context.rules.changesEmail ? [emailSection(context)] : []),
  ...context.featurePages.flatMap((pages) => pages.section?.(context) ?? []),
  loginsSection(context),
  deletionSection(context),
];

export function createAccountPage(context: LoginContext): CardPages {
  const { product, texts, assets, rules } = context;
  const { account } = texts;
  const unverified = `<p id="unverified" hidden>${account.unverified} <button type="button" class="link" id="verify">${account.verify}</button></p>\n`;
  return {
    [ACCOUNT_PATH]: createCard({
      path: ACCOUNT_PATH,
      title: account.title,
      script: "account.js",
      product,
      texts,
      assets,
      content: `<p class="status" id="status" role="status" tabindex="-1"></p>
${loginSteps(context)}
<div id="user" hidden>
${unbroken(`<h1 id="welcome" tabindex="-1">${account.title}</h1>
<p>${account.loggedInAs(`<bdi><strong id="identity"></strong></bdi>`)} <button type="button" class="link" id="logout">${account.logOut}</button></p>
<p class="rule" id="blocked" hidden>${account.blocked}</p>
${rules.sendsMail ? unverified : ""}<p class="problem" id="problem" role="alert" tabindex="-1"></p>
${sectionsOf(context).map(section).join("\n")}`)}
</div>`,
    }),
  };
}
