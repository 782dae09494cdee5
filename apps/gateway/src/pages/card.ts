/**
 * The HTML that the pages of accounts share: one card, and fields whose rule and error are beside them. The browser checks no
 * field, because its rules differ from the service's, and `maxlength` would cut a pasted password without a message.
 */
import type { Product } from "@latchkey/contracts";
import type { AssetName } from "./assets.ts";
import { type PageOptions, relativeUrl } from "./pages.ts";

export type CardPages = Readonly<Record<string, PageOptions>>;

interface CardOptions {
  readonly path: string;
  readonly title: string;
  readonly product: Product;
  /** In addition to `forms.js`. */
  readonly scripts: readonly AssetName[];
  /** The HTML below the product's name. */
  readonly content: string;
}

export function createCard({ path, title, product, scripts, content }: CardOptions): PageOptions {
  const { name, url } = product;
  const label = Bun.escapeHTML(name ?? (url === null ? "" : new URL(url).host));
  const home = url === null ? label : `<a href="${Bun.escapeHTML(url)}">${label}</a>`;
  return {
    title: name === null ? title : `${title} – ${Bun.escapeHTML(name)}`,
    styles: ["account.css"],
    scripts: ["forms.js", ...scripts],
    hasModules: true,
    policy: { "style-src": "'self'", "img-src": "'self'" },
    body: `<div class="card" data-root="${relativeUrl(path, "/")}">
${home && `<header><p class="product">${home}</p></header>\n`}<main>
<noscript><p>This page needs JavaScript.</p></noscript>
${content}
</main>
</div>`,
  };
}

/** A link to the product, or nothing if it has no URL. */
export function continueLink({ name, url }: Product): string {
  if (url === null) return "";
  return ` <a href="${Bun.escapeHTML(url)}">Continue${name === null ? "" : ` to ${Bun.escapeHTML(name)}`}</a>`;
}

/** A line break after the hyphen of "e-mail" would look like two words. @param html without URLs */
export const unbroken = (html: string): string => html.replaceAll(/\b(e)-(mail)/gi, "$1&#8209;$2");

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
}

export function field(options: FieldOptions): string {
  const { name, label, autocomplete, type = "text", rule, isNumeric = false, isRequired = true } = options;
  const { id = name ?? "" } = options;
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
  return `<div class="field">
<label for="${id}">${label}</label>
${rule === undefined ? "" : `<p class="rule" id="${id}-rule">${rule}</p>\n`}<p class="error" id="${id}-error"></p>
<div class="input"><input ${attributes.join(" ")}>${type === "password" ? `<button type="button" class="reveal">Show</button>` : ""}</div>
</div>`;
}

/** The first field of every form that logs in. */
export const emailField = (id?: string): string =>
  field({ name: "email", label: "E-mail", type: "email", autocomplete: "username", ...(id && { id }) });

/** @param fields HTML @param button the text of the one primary action */
export const form = (attributes: string, fields: string, button: string, kind = "primary"): string =>
  `<form ${attributes} novalidate>
<p class="problem" role="alert" tabindex="-1"></p>
${fields}
<button class="${kind}">${button}</button>
</form>`;
