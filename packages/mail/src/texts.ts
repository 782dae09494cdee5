/**
 * Writes every kind of mail, as text and as HTML. Mails contain no text that a client chose, except the names of passkeys, which
 * are reduced to words. URLs come from the configuration only.
 */
import {
  hasLink,
  type Language,
  type Languages,
  type LinkKind,
  languageOf,
  MAILS,
  type MailKind,
  type MailText,
  type MailTexts,
  type Product,
  TOKEN_PLACEHOLDER,
} from "@latchkey/contracts";
import { writeHtml } from "./html.ts";
import type { MailLanguage } from "./languages/language.ts";
import { MAIL_LANGUAGES } from "./languages/languages.ts";

interface MailOptions {
  /** The base URL of the service's pages. */
  readonly publicUrl: string;
  /** Links that replace the links to the service's pages. */
  readonly linkTemplates: { readonly [Kind in LinkKind]?: string | null };
  readonly product: Product;
  /** The colour of the button, as CSS. White text on it is readable. */
  readonly color: string;
  /** The path of the product's picture below `publicUrl`. @default no picture */
  readonly logoPath?: string | null;
  readonly languages: Languages;
  /** Texts that replace the built-in texts. They can contain `{product}`, and `{link}` or `{code}`. */
  readonly texts: { readonly [Tag in Language]?: MailTexts };
}

/** What the recipient can log in with. `createdAt` is in RFC 3339. The operator has chosen the names of providers. */
export interface ListedLogins {
  /** Listed if true. @default false */
  readonly hasPassword?: boolean;
  readonly passkeys: readonly { readonly name: string; readonly createdAt: string }[];
  readonly identities: readonly { readonly provider: string; readonly createdAt: string }[];
}

/** What a mail contains in addition to its text. */
export interface MailContents {
  /** The language of the user. @default the default language */
  readonly locale?: string | null;
  /** Part of the link. @default none */
  readonly token?: string;
  /** The code of a login. @default none */
  readonly code?: string;
  /** Listed at the end of the text. @default none */
  readonly logins?: ListedLogins;
  /** The number of recovery codes that are left. @default it is not mentioned */
  readonly recoveryCodes?: number;
}

export interface WrittenMail extends MailText {
  readonly html: string;
  readonly language: Language;
}

export type WriteMail = (kind: MailKind, contents?: MailContents) => WrittenMail;

const NAME_MAX_LENGTH = 32;
const NAME_MAX_DIGITS = 6;

/**
 * Returns only the letters, digits and spaces of a name. Without dots, slashes and colons, no mail program recognises a link,
 * and without format characters, the text keeps its direction. So many digits that they could be a telephone number are omitted.
 */
function wordsOf(name: string): string {
  const hasNumber = (name.match(/\p{Nd}/gu)?.length ?? 0) > NAME_MAX_DIGITS;
  const words = name.replaceAll(hasNumber ? /[^\p{L}\p{M} ]+/gu : /[^\p{L}\p{M}\p{Nd} ]+/gu, " ");
  return [...words.replaceAll(/ +/g, " ").trim()].slice(0, NAME_MAX_LENGTH).join("");
}

/** Removes the characters that reorder the text behind a name (UAX #9: embeddings, overrides and isolates), but keeps marks. */
const withoutOverrides = (name: string): string => name.replaceAll(/[\u202A-\u202E\u2066-\u2069]/g, "");

/** The paragraphs at the end of the text. */
function listLogins({ hasPassword = false, passkeys, identities }: ListedLogins, words: MailLanguage) {
  const since = (createdAt: string): string => words.dateOf(createdAt.slice(0, 10));
  const logins = [
    ...(hasPassword ? [`- ${words.thePassword}`] : []),
    ...passkeys.map(({ name, createdAt }) => `- ${since(createdAt)} ${words.quoted(wordsOf(name))}`),
    ...identities.map(({ provider, createdAt }) => `- ${since(createdAt)} ${provider}`),
  ];
  if (logins.length === 0) return [];
  const introduction = logins.length === passkeys.length ? words.passkeysLogIn : words.loginsLogIn;
  return [wrap(introduction), logins.join("\n")];
}

const LINE_LENGTH = 76;

/** Joins the lines of the paragraph, and breaks it between words. A link is never broken. */
function wrap(paragraph: string): string {
  const lines: string[] = [];
  let line = "";
  for (const word of paragraph.split(/[ \n]/)) {
    if (line !== "" && line.length + 1 + word.length > LINE_LENGTH) {
      lines.push(line);
      line = "";
    }
    line += line === "" ? word : ` ${word}`;
  }
  return [...lines, line].join("\n");
}

const paragraphsOf = (text: string): string[] => text.split(/\n(?:[ \t]*\n)+/);

/** Returns a function that writes a mail. The logins are listed at the end of the text, also of an operator's. */
export function createMails(options: MailOptions): WriteMail {
  const { publicUrl, linkTemplates, product, color, logoPath = null, languages, texts } = options;
  const name = product.name === null ? null : withoutOverrides(product.name);
  const footer = product.url === null ? [] : [product.url];
  const logo = logoPath === null ? null : publicUrl + logoPath;

  return (kind, { locale = null, token = "", code = "", logins, recoveryCodes } = {}) => {
    const language = languageOf(locale, languages);
    const words = MAIL_LANGUAGES[language];
    const own = texts[language]?.[kind];
    const template = hasLink(kind) ? linkTemplates[kind] : null;
    const link = (template ?? `${publicUrl}${MAILS[kind].page}#token=${TOKEN_PLACEHOLDER}`).replace(
      TOKEN_PLACEHOLDER,
      token,
    );
    const lifetime = words.lifetimes[MAILS[kind].lifetime];
    const values = new Map(Object.entries({ link, code, lifetime, product: name ?? words.yourAccount }));
    // All placeholders are replaced in one pass, so that values are never searched for placeholders.
    const fill = (text: string) => text.replace(/\{(\w+)\}/g, (found, name) => values.get(name) ?? found);
    const withProduct = (text: string) => text.replaceAll(/\[(.*?)\]/g, name === null ? "" : "$1");
    const builtIn = (text: string) => fill(withProduct(text));

    const subject = own ? fill(own.subject) : builtIn(words.mails[kind].subject);
    const main = own ? fill(own.text).trimEnd() : "";
    const body = own ? paragraphsOf(main) : paragraphsOf(words.mails[kind].text).map(builtIn).map(wrap);
    const left = words.recoveryCodesLeft.replace("{count}", String(recoveryCodes));
    const end = [
      ...(logins ? listLogins(logins, words) : []),
      ...(recoveryCodes === undefined ? [] : [left]),
      ...(own ? [] : footer),
    ];
    return {
      subject,
      text: `${[own ? main : body.join("\n\n"), ...end].join("\n\n")}\n`,
      html: writeHtml({
        language,
        subject,
        name,
        color,
        logo,
        paragraphs: [...body, ...end],
        button: hasLink(kind) ? { text: words.buttons[kind], link, linkBelow: words.linkBelow } : null,
        code: code || null,
        url: own ? null : product.url,
      }),
      language,
    };
  };
}
