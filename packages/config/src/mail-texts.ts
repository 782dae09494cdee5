/** The operator's texts of mails. Invariant: each has only valid lines, `{product}`, and `{link}` if mails of its kind have one. */
import {
  hasCode,
  hasLink,
  MAIL_KINDS,
  type MailKind,
  type MailText,
  type MailTexts,
} from "@latchkey/contracts";
import { InvalidValue, invalid, type Kind, LINK_MAX_LENGTH, type ReadFile } from "./variable-kinds.ts";

/** In code points. */
export const PRODUCT_NAME_MAX_LENGTH = 64;
const fileOf = (kind: MailKind): string => `${kind}.txt`;
/** RFC 5322 §2.1.1. */
const MAX_LINE_BYTES = 998;
/** These texts replace `{product}` and `{link}` in the length check. Each has at least as many bytes as any actual value. */
const LONGEST_PRODUCT = "x".repeat(4 * PRODUCT_NAME_MAX_LENGTH);
const LONGEST_LINK = "x".repeat(LINK_MAX_LENGTH + 200);

export const mailTexts: Kind<MailTexts> = {
  accepted: `a folder with ${MAIL_KINDS.map(fileOf).join(", ")}: the subject in the first line, {product}, and {link} or {code} if the mail has one`,
  parse: (folder, readFile) => {
    if (folder === "") invalid();
    const found = MAIL_KINDS.flatMap((kind) => {
      const content = readIfPresent(`${folder}/${fileOf(kind)}`, fileOf(kind), readFile);
      return content === null ? [] : [[kind, parseText(kind, content)] as const];
    });
    return found.length > 0 ? Object.fromEntries(found) : invalid("names a folder without texts");
  },
};

/** Returns the rest of a sentence that begins with the name of the variable, or null if no text is missing. */
export function warnAboutMissingTexts(texts: MailTexts): string | null {
  const missing = MAIL_KINDS.filter((kind) => !texts[kind]).map(fileOf);
  return missing.length > 0 ? `has no ${missing.join(", ")}: the built-in text is used` : null;
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
