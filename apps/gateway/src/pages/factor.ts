/** The section of the second factor: what the service knows, an enrolment, or recovery codes. `browser/factor-section.ts` shows one. */
import { type CardContext, field, form } from "./card.ts";
import { ACCOUNT_PATH } from "./links.ts";
import { relativeUrl } from "./pages.ts";
import { currentPasswordField, type Section } from "./section.ts";

const button = (id: string, text: string): string =>
  `<button type="button" class="other" id="${id}">${text}</button>`;

function enrolment({ texts: { account }, rules, assets }: CardContext, path: string): string {
  const code = field({
    ...{ name: "code", id: "factor-new-code", label: account.factorCode, autocomplete: "one-time-code" },
    ...{ rule: account.factorCodeRule, isNumeric: true },
  });
  const mailed = field({
    ...{ name: "email_code", id: "factor-email-code", label: account.factorMailCode, autocomplete: "off" },
    ...{ rule: account.factorMailRule, isNumeric: true },
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
    ...{ name: "code", id: "factor-proof", label: account.factorProof, autocomplete: "one-time-code" },
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
export const factorSection = (context: CardContext, path = ACCOUNT_PATH): Section => ({
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
