/**
 * Matches a definition in `.env`. The value is not quoted, and a `#` directly follows another character. Bun ends such a
 * value at the `#`.
 */
const CUT = /^[ \t]*(?:export[ \t]+)?(\w+)[ \t]*[=:][ \t]*([^\s"'`#]|[^\s"'`#][^#\n]*[^\s#])#/gm;

/** Returns one sentence for each of these variables whose value Bun has cut. `dotenv` is the text of the file. */
export const describeCutValues = (
  names: readonly string[],
  variables: Readonly<Record<string, string | undefined>>,
  dotenv: string,
): string[] =>
  [...dotenv.matchAll(CUT)]
    .filter(([, name = "", value]) => names.includes(name) && variables[name] === value)
    .map(([, name]) => `${name} ends at a # in .env; write its value in quotes`);
