/** What logins with mailed codes add to the pages of accounts. */
import { type CardContext, emailField, field, form } from "../../pages/card.ts";
import type { FeaturePages } from "../../pages/feature-pages.ts";
import { MAIL_MARK } from "../../pages/marks.ts";

/** The code is typed into the second form, which the script shows once the first one was accepted. */
const codeLogin = (context: CardContext): string => {
  const { login } = context.texts;
  const code = field({
    name: "code",
    label: login.codeLabel,
    autocomplete: "one-time-code",
    isNumeric: true,
    rule: login.codeRule,
  });
  return `<details id="code-section" class="way">
<summary class="other">${MAIL_MARK}${login.code}</summary>
${form(`id="code-request-form"`, emailField(context, "code-email"), login.codeRequest)}
${form(`id="code-form" hidden`, code, login.codeButton)}
</details>`;
};

export const emailLoginPages: FeaturePages = { loginWays: (context) => [codeLogin(context)] };
