/** Mails of a product with a name and a page, in every language. */
import { createMails as create } from "../../src/index.ts";

type MailOptions = Parameters<typeof create>[0];

export const createMails = (changes: Partial<MailOptions> = {}) =>
  create({
    publicUrl: "https://accounts.example.com",
    linkTemplates: {},
    product: { name: "Example", url: "https://example.com" },
    color: "#2457a6",
    languages: ["en", "de"],
    texts: {},
    ...changes,
  });

/** Returns the text of the body, without the white space that HTML ignores, and without the first of each of these texts. */
export const toPlainText = (html: string, omitted: readonly string[] = []): string =>
  omitted
    .reduce((rest, text) => rest.replace(text, ""), html)
    .replace(/^.*<body/s, "<body")
    .replaceAll(/<a class="link".*?>(.*?)<\/a>/g, "$1")
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll("&quot;", '"')
    .replaceAll("&#x27;", "'")
    .replaceAll(/\s+/g, " ")
    .trim();
