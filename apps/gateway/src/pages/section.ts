/** A section of the page of accounts: closed, it shows its title and its value; open, what a change ends, and its form. */
import { type CardContext, field } from "./card.ts";

export interface Section {
  readonly id: string;
  readonly title: string;
  /** Whether the script shows the present value beside the title. */
  readonly hasValue?: boolean;
  /** What the action changes and ends, as HTML. */
  readonly effect: string;
  readonly content: string;
}

export const section = ({ id, title, hasValue = false, effect, content }: Section): string =>
  `<details name="section" id="${id}-section">
<summary><h2>${title}</h2>${hasValue ? `<span class="value" id="${id}-value"></span>` : ""}</summary>
<p>${effect}</p>
${content}
</details>`;

/**
 * The script shows the field to users who have a password. If the service accepts a request without it, the page still requires it;
 * otherwise the service does.
 */
export const currentPasswordField = (id: string, { texts, rules }: CardContext): string =>
  field({
    name: "current_password",
    id,
    type: "password",
    autocomplete: "current-password",
    label: texts.common.currentPassword,
    show: texts.common.show,
    isRequired: false,
    place: ` data-current-password="${rules.requireCurrentPassword ? "" : "required"}"`,
  });
