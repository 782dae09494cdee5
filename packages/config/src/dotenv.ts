/**
 * Matches a definition in `.env` whose value is not quoted and contains a `#` directly after another character. Bun cuts off
 * such a value at the `#`.
 */
const CUT = /^[ \t]*(?:export[ \t]+)?(\w+)[ \t]*[=:][ \t]*([^\s"'`#]|[^\s"'`#][^#\n]*[^\s#])#/gm;

/** Returns one sentence for each variable in `names` whose value Bun has cut off. `dotenv` is the text of `.env`. */
export const describeCutValues = (
  names: readonly string[],
  variables: Readonly<Record<string, string | undefined>>,
  dotenv: string,
): string[] =>
  [...dotenv.matchAll(CUT)]
    .filter(([, name = "", value]) => names.includes(name) && variables[name] === value)
    .map(([, name]) => `${name} ends at a # in .env; write its value in quotes`);
