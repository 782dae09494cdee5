/** What passkeys add to the pages of accounts. `pages/browser/passkeys-section.ts` lists those of the user. */
import { type CardContext, field, form } from "../../pages/card.ts";
import type { FeaturePages } from "../../pages/feature-pages.ts";
import { PASSKEY_MARK } from "../../pages/marks.ts";
import { currentPasswordField, type Section } from "../../pages/section.ts";

function passkeySection(context: CardContext): Section {
  const { account } = context.texts;
  const name = { name: "name", id: "passkey-name", label: account.passkeyName };
  return {
    id: "passkeys",
    title: account.passkeys,
    hasValue: true,
    effect: account.passkeysEffect,
    content: `<ul class="removable" id="passkey-list"></ul>
${form(
  `id="passkey-form"`,
  `${field({ ...name, autocomplete: "off" })}\n${currentPasswordField("passkey-current", context)}`,
  account.createPasskey,
)}`,
  };
}

export const passkeyPages: FeaturePages = {
  section: passkeySection,
  loginWays: ({ texts: { login } }) => [
    `<button type="button" class="other" id="passkey">${PASSKEY_MARK}${login.passkey}</button>`,
  ],
  formerPath: "/account/passkeys",
};
