/** The operator's texts of mails. Invariant: each has only valid lines, `{product}`, and `{link}` if mails of its kind have one. */
import {
  hasCode,
  hasLink,
  isLanguage,
  type Language,
  type Languages,
  MAIL_KINDS,
  type MailKind,
  type MailText,
  type MailTexts,
  SHIPPED_LANGUAGES,
} from "@latchkey/contracts";
import { InvalidValue, invalid, type Kind, LINK_MAX_LENGTH, type ReadFile } from "./variable-kinds.ts";

/** Texts by language. `default` has the texts of the default language, which only the configuration as a whole knows. */
export type TextsByLanguage = { readonly [Tag in Language | "default"]?: MailTexts };

/** In code points. */
export const PRODUCT_NAME_MAX_LENGTH = 64;
const fileOf = (kind: MailKind): string => `${kind}.txt`;
/** RFC 5322 §2.1.1. */
const MAX_LINE_BYTES = 998;
/** These texts replace `{product}` and `{link}` in the length check. Each has at least as many bytes as any actual value. */
const LONGEST_PRODUCT = "x".repeat(4 * PRODUCT_NAME_MAX_LENGTH);
const LONGEST_LINK = "x".repeat(LINK_MAX_LENGTH + 200);

const EXAMPLE = JSON.stringify({ [SHIPPED_LANGUAGES[1]]: "FOLDER" });

export const mailTexts: Kind<TextsByLanguage> = {
  accepted: `a folder for the default language, or folders by language such as ${EXAMPLE}, with ${MAIL_KINDS.map(fileOf).join(", ")}: the subject in the first line, {product}, and {link} or {code} if the mail has one`,
  parse: (value, readFile) => {
    if (!value.trimStart().startsWith("{")) return { default: readFolder(value, readFile) };
    const folders = parseFolders(value).map(
      ([language, folder]) => [language, readFolder(folder, readFile)] as const,
    );
    return folders.length > 0 ? Object.fromEntries(folders) : invalid("names no folder");
  },
};

/** Returns the rest of a sentence that begins with the name of the variable, or null if no text is missing. */
export function warnAboutMissingTexts(texts: TextsByLanguage): string | null {
  const missing = Object.entries(texts).flatMap(([language, { ...found }]) => {
    const files = MAIL_KINDS.filter((kind) => !found[kind]).map(fileOf);
    if (files.length === 0) return [];
    return `${language === "default" ? "" : `for ${language} `}no ${files.join(", ")}`;
  });
  return missing.length > 0 ? `has ${missing.join("; ")}: the built-in text is used` : null;
}

/** Returns the texts by the configured languages. */
export function textsOf(texts: TextsByLanguage | null, [first, ...others]: Languages) {
  const all = [first, ...others].map((language) => [
    language,
    texts?.[language] ?? (language === first ? texts?.default : undefined) ?? {},
  ]);
  return typed(Object.fromEntries(all));
}

/** The cast is safe: the keys are languages, and `readFolder` has checked the texts. */
const typed = (texts: object) => texts as { readonly [Tag in Language]?: MailTexts };

function parseFolders(value: string): [Language, string][] {
  const folders: unknown = parseJson(value);
  return Object.entries(Object(folders)).map(([language, folder]) => {
    if (!isLanguage(language)) return invalid("has a member that is not a language of this service");
    return typeof folder === "string" ? [language, folder] : invalid("has a folder that is not a text");
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return invalid("is not valid JSON");
  }
}

function readFolder(folder: string, readFile: ReadFile): MailTexts {
  if (folder === "") invalid();
  const found = MAIL_KINDS.flatMap((kind) => {
    const content = readIfPresent(`${folder}/${fileOf(kind)}`, fileOf(kind), readFile);
    return content === null ? [] : [[kind, parseText(kind, content)] as const];
  });
  return found.length > 0 ? Object.fromEntries(found) : invalid("names a folder without texts");
}

function readIfPresent(path: string, name: string, readFile: ReadFile): string | null {
  try {
    return readFile(path);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw new InvalidValue(`names a folder whose ${name} cannot be read`);
  }
}

function parseText(kind: MailKind, content: string): MailText {
  const reject = (problem: string): never => invalid(`names a folder whose ${fileOf(kind)} ${problem}`);
  const [subject = "", ...lines] = content.replaceAll("\r\n", "\n").split("\n");
  const text = lines.join("\n").trimStart();
  if (subject.trim() === "" || text === "") reject("has no subject or no text");
  const used = new Set(content.match(/\{\w+\}/g));
  const required = ["{product}", hasLink(kind) ? "{link}" : hasCode(kind) ? "{code}" : []].flat();
  for (const placeholder of required) if (!used.delete(placeholder)) reject(`has no ${placeholder}`);
  for (const other of used) reject(`contains ${other}`);
  for (const secret of ["{link}", "{code}"])
    if (subject.includes(secret)) reject(`has ${secret} in its subject`);
  for (const line of [subject, ...lines]) {
    if (/[^\P{Cc}\t]/u.test(line)) reject("contains a control character");
    const longest = line.replaceAll("{product}", LONGEST_PRODUCT).replaceAll("{link}", LONGEST_LINK);
    if (Buffer.byteLength(longest) > MAX_LINE_BYTES) reject("has a line that is too long");
  }
  return { subject, text };
}
