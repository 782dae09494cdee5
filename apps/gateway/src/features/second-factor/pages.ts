/**
 * What second factors add to the pages of accounts: a step of logins, and a section with what the service knows, an enrolment, or
 * recovery codes. `pages/browser/factor-section.ts` shows one of these.
 */
import { type CardContext, field, form } from "../../pages/card.ts";
import type { FeaturePages } from "../../pages/feature-pages.ts";
import { ACCOUNT_PATH } from "../../pages/links.ts";
import { relativeUrl } from "../../pages/pages.ts";
import { currentPasswordField, type Section } from "../../pages/section.ts";

const button = (id: string, text: string): string =>
  `<button type="button" class="other" id="${id}">${text}</button>`;

function enrolment({ texts: { account }, rules, assets }: CardContext, path: string): string {
  const code = field({
    name: "code",
    id: "factor-new-code",
    label: account.factorCode,
    autocomplete: "one-time-code",
    rule: account.factorCodeRule,
    isNumeric: true,
  });
  const mailed = field({
    name: "email_code",
    id: "factor-email-code",
    label: account.factorMailCode,
    autocomplete: "off",
    rule: account.factorMailRule,
    isNumeric: true,
  });
  return `<div id="factor-create" tabindex="-1" hidden>
<p>${account.factorScan}</p>
<div id="factor-qr" data-src="${relativeUrl(path, assets.paths["qr-code.js"])}"></div>
<p>${account.factorSecret} <code id="factor-secret"></code></p>
<p><a id="factor-open">${account.factorOpen}</a></p>
${form(`id="factor-create-form"`, rules.sendsMail ? `${code}\n${mailed}` : code, account.factorCreate)}
<p class="others"><button type="button" class="link" id="factor-cancel-enrolment">${account.factorCancel}</button></p>
</div>`;
}

/** Each button sends the same proof. */
function present(context: CardContext): string {
  const { account } = context.texts;
  const code = field({
    name: "code",
    id: "factor-proof",
    label: account.factorProof,
    autocomplete: "one-time-code",
    rule: account.factorProofRule,
  });
  return `<div id="factor-on" hidden>
<p id="factor-state"></p>
<form id="factor-form-on" novalidate>
<p class="problem" role="alert" tabindex="-1"></p>
${currentPasswordField("factor-on-current", context)}
${code}
<div class="ways">
<button class="other" value="codes">${account.factorRenewCodes}</button>
<button class="other" value="replace">${account.factorReplace}</button>
<button class="danger" value="remove" aria-describedby="factor-remove-rule">${account.factorRemove}</button>
</div>
<p class="rule" id="factor-remove-rule">${account.factorRemoveRule}</p>
</form>
</div>`;
}

const recovery = ({ texts: { account } }: CardContext): string => `<div id="recovery" tabindex="-1" hidden>
<h3>${account.recoveryTitle}</h3>
<p>${account.recoveryIntro}</p>
<ol id="recovery-list" class="codes"></ol>
<div class="ways">
${[button("recovery-copy", account.copy), button("recovery-download", account.download), button("recovery-print", account.print)].join("\n")}
<button type="button" class="primary" id="recovery-done">${account.recoveryDone}</button>
</div>
</div>`;

/** @param path where the page is */
const factorSection = (context: CardContext, path: string): Section => ({
  id: "factor",
  title: context.texts.account.factor,
  hasValue: true,
  effect: context.texts.account.factorEffect,
  content: `${form(
    `id="factor-begin-form"`,
    currentPasswordField("factor-current", context),
    context.texts.account.factorBegin,
  )}
${present(context)}
${enrolment(context, path)}
${recovery(context)}`,
});

/** Asks for a code once a login needs a second factor. */
const factorStep = ({ texts: { login } }: CardContext): string => `<div id="factor" hidden>
<h1>${login.factorTitle}</h1>
<p>${login.factorIntro}</p>
${form(
  `id="factor-form"`,
  field({
    name: "code",
    id: "factor-code",
    label: login.factorLabel,
    autocomplete: "one-time-code",
    rule: login.factorRule,
  }),
  login.factorButton,
)}
<p class="others"><button type="button" class="link" id="factor-cancel">${login.cancel}</button></p>
</div>`;

export const secondFactorPages: FeaturePages = {
  section: (context) => factorSection(context, ACCOUNT_PATH),
  loginStep: factorStep,
  enrolment: factorSection,
};
