/** A definition in `.env` whose unquoted value Bun ends at a `#` that follows it directly. */
const CUT = /^[ \t]*(?:export[ \t]+)?(\w+)[ \t]*[=:][ \t]*([^\s"'`#]|[^\s"'`#][^#\n]*[^\s#])#/gm;

/** One sentence for each of these variables that has such a value; `dotenv` is the text of the file. */
export const describeCutValues = (
  names: readonly string[],
  variables: Readonly<Record<string, string | undefined>>,
  dotenv: string,
): string[] =>
  [...dotenv.matchAll(CUT)]
    .filter(([, name = "", value]) => names.includes(name) && variables[name] === value)
    .map(([, name]) => `${name} ends at a # in .env; write its value in quotes`);
