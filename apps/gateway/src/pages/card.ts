/**
 * The HTML that the pages of accounts share: one card, and fields whose rule and error are beside them. The browser checks no
 * field, because its rules differ from the service's, and `maxlength` would cut a pasted password without a message.
 */
import { PASSWORD_MAX_LENGTH, type Product } from "@latchkey/contracts";
import type { AccountRules } from "../config.ts";
import type { Features } from "../feature-flags.ts";
import type { AssetName, Assets, Logo } from "./assets.ts";
import { type PageOptions, relativeUrl } from "./pages.ts";
import type { PageTexts } from "./texts/en.ts";

export type CardPages = Readonly<Record<string, PageOptions>>;

/** What all pages of accounts depend on. */
export interface CardContext {
  readonly product: Product;
  readonly texts: PageTexts;
  readonly assets: Assets;
  /** On these depends which actions the pages offer, and what they say. */
  readonly rules: AccountRules;
  readonly features: Features;
}

interface CardOptions extends Pick<CardContext, "product" | "texts" | "assets"> {
  readonly path: string;
  readonly title: string;
  /** A page that only says something has none. */
  readonly script?: AssetName;
  /** The HTML below the product's name. */
  readonly content: string;
}

export function createCard(options: CardOptions): PageOptions {
  const { path, title, product, texts, assets, script, content } = options;
  const { name, url } = product;
  const label = Bun.escapeHTML(name ?? (url === null ? "" : new URL(url).host));
  const brand = assets.logo ? logoOf(relativeUrl(path, assets.logo.path), assets.logo, label) : label;
  const home = url === null || !brand ? brand : `<a href="${Bun.escapeHTML(url)}">${brand}</a>`;
  return {
    title: name === null ? title : `${title} – ${Bun.escapeHTML(name)}`,
    language: texts.language,
    styles: ["account.css"],
    scripts: script ? [script] : [],
    hasModules: true,
    policy: { "style-src": "'self'", "img-src": "'self'" },
    body: `<div class="card" data-root="${relativeUrl(path, "/")}" data-texts="${Bun.escapeHTML(JSON.stringify(texts.scripts))}">
${home && `<header><p class="product">${home}</p></header>\n`}<main>
${script ? `<noscript><p class="problem">${texts.common.needsScript}</p></noscript>\n<p class="spoken" id="progress" role="status"></p>\n` : ""}${content}
</main>
</div>`,
  };
}

/** The dimensions reserve its place. An SVG has none, and fills the height. */
function logoOf(url: string, { width, height }: Logo, label: string): string {
  const size = width && height ? ` width="${width}" height="${height}"` : "";
  return `<img class="logo" src="${url}" alt="${label}"${size}>`;
}

/** A link to the product, or nothing if it has no URL. */
export function continueLink({ product: { name, url }, texts }: CardContext): string {
  if (url === null) return "";
  const label = texts.common.continueTo(name && Bun.escapeHTML(name));
  return ` <a href="${Bun.escapeHTML(url)}">${label}</a>`;
}

/** A line break after the hyphen of "e-mail" would look like two words. Tags, whose attributes can be addresses, stay as they are. */
export const unbroken = (html: string): string =>
  html.replaceAll(/<[^>]*>|\b(e)-(mail)/gi, (found, e, mail) => (e ? `${e}&#8209;${mail}` : found));

interface FieldOptions {
  /** The member of the body; null: the field is not sent. */
  readonly name: string | null;
  readonly label: string;
  readonly autocomplete: string;
  readonly type?: "text" | "email" | "password";
  /** @default the name. Several forms of a page can have fields of one name. */
  readonly id?: string;
  readonly rule?: string;
  /** Whether a phone shows digits only. @default false */
  readonly isNumeric?: boolean;
  readonly isRequired?: boolean;
  /** Further attributes of the place around the field. */
  readonly place?: string;
  /** The text of the button of a password. */
  readonly show?: string;
}

export function field(options: FieldOptions): string {
  const { name, label, autocomplete, type = "text", rule, isNumeric = false, isRequired = true } = options;
  const { id = name ?? "", place = "", show = "Show" } = options;
  const attributes = [
    `id="${id}"`,
    ...(name === null ? [] : [`name="${name}"`]),
    `type="${type}"`,
    `autocomplete="${autocomplete}"`,
    `autocapitalize="none"`,
    `spellcheck="false"`,
    ...(isNumeric ? [`inputmode="numeric"`] : []),
    `aria-describedby="${rule === undefined ? "" : `${id}-rule `}${id}-error"`,
    ...(isRequired ? ["required"] : []),
  ];
  return `<div class="field"${place}>
<label for="${id}">${label}</label>
${rule === undefined ? "" : `<p class="rule" id="${id}-rule">${rule}</p>\n`}<p class="error" id="${id}-error"></p>
<div class="input"><input ${attributes.join(" ")}>${type === "password" ? `<button type="button" class="reveal">${show}</button>` : ""}</div>
</div>`;
}

/** The first field of every form that logs in. */
export const emailField = ({ texts }: Pick<CardContext, "texts">, id?: string): string =>
  field({
    name: "email",
    label: texts.common.email,
    type: "email",
    autocomplete: "username",
    ...(id && { id }),
  });

export const newPasswordField = ({ texts, rules }: CardContext, id = "new-password"): string =>
  field({
    name: "password",
    id,
    type: "password",
    autocomplete: "new-password",
    label: id === "new-password" ? texts.common.newPassword : texts.common.password,
    show: texts.common.show,
    rule: texts.common.passwordRule(rules.passwordMinLength, PASSWORD_MAX_LENGTH),
  });

/** What users can have to log in besides the password; null: nothing. */
export const otherLogins = ({ texts, features }: CardContext): string | null =>
  texts.common.otherLogins({ passkeys: features.has("passkeys"), identities: features.has("identities") });

/** @param fields HTML @param button the text of the one primary action */
export const form = (attributes: string, fields: string, button: string, kind = "primary"): string =>
  `<form ${attributes} novalidate>
<p class="problem" role="alert" tabindex="-1"></p>
${fields}
<button class="${kind}">${button}</button>
</form>`;
