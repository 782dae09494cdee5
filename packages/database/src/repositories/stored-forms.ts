/**
 * How a searched text can be spelled in upper and lower case. What a database converts to lower case depends on it: SQLite converts
 * ASCII only, and PostgreSQL follows the locale of the database, where a Turkish `I` becomes `ı`. So the database converts each
 * spelling, and a stored text that differs only in case begins with one of the results.
 */
import { sql } from "drizzle-orm";
import type { Dialect } from "../dialect.ts";
import type { RepositoryClient } from "./repository-client.ts";

/** The ways in which a searched text is stored: e-mails, and usernames as the database converts them to lower case. */
export interface StoredForms {
  readonly emails: readonly string[];
  readonly usernames: readonly string[];
}

/** More letters have more than 16 spellings. */
const MAX_VARIED_LETTERS = 4;

/** Whether databases differ in the conversion of this character. */
const isVaried = (character: string): boolean =>
  (/[Ii]/.test(character) || character > "\x7F") && character.toLowerCase() !== character.toUpperCase();

const capitalize = ([first = "", ...others]: string): string =>
  `${first.toUpperCase()}${others.join("").toLowerCase()}`;

/** Every spelling that databases can convert differently; of a text with many such letters, the usual ones. */
function caseSpellings(text: string): string[] {
  const characters = [...text];
  if (characters.filter(isVaried).length > MAX_VARIED_LETTERS) {
    const words = text.replaceAll(/\S+/g, capitalize);
    return [...new Set([text, text.toLowerCase(), text.toUpperCase(), capitalize(text), words])];
  }
  let spellings = [""];
  for (const character of characters) {
    const ways = isVaried(character)
      ? new Set([character, character.toLowerCase(), character.toUpperCase()])
      : [character];
    spellings = [...ways].flatMap((way) => spellings.map((before) => before + way));
  }
  return spellings;
}

/** The beginning of a stored e-mail, which this service converted. At the end of a word, a `Σ` becomes another letter. */
const emailSpellings = (text: string): string[] => [
  ...new Set([text.toLowerCase(), Array.from(text, (character) => character.toLowerCase()).join("")]),
];

export const createStoredForms =
  ({ orm, prepare }: Pick<RepositoryClient, "orm" | "prepare">, { jsonMembers }: Dialect) =>
  async (text: string): Promise<StoredForms> => {
    const spellings = sql`cast(${JSON.stringify(Object.assign({}, caseSpellings(text)))} as text)`;
    const lower = orm.selectDistinct({ text: sql<string>`lower(value)` }).from(jsonMembers(spellings));
    const lowered = await prepare(lower)({});
    return { emails: emailSpellings(text), usernames: lowered.map(({ text }) => text) };
  };
