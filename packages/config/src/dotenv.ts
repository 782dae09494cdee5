/**
 * Finds values in `.env` that Bun changes: it cuts off a value without quotes at a `#`, also one that directly follows another
 * character, and replaces `$NAME` and `${NAME}` by the value of a variable, also between single quotes.
 */
const DEFINITION =
  /^[ \t]*(?:export[ \t]+)?(\w+)[ \t]*[=:][ \t]*((["'`])(?:\\[\s\S]|(?!\3)[^\\])*\3|[^\n]*)/gm;
/** A text can contain a # after a space, where other values end before a comment. */
const TEXTS = new Set(["PRODUCT_NAME"]);
const CUT_TEXT = /^([^\s"'`#][^#]*?)[ \t]*#/;
const CUT = /^([^\s"'`#]|[^\s"'`#][^#]*[^\s#])#/;
/** The text before the first `$` that is replaced, up to its first backslash, without the quote. */
const EXPANDED = /^["'`]?([^\\$]*)(?:\\[\s\S]|[^\\$]|\$(?![\w{]))*\$[\w{]/;

/** Returns one sentence for each variable in `names` whose value Bun has changed. `dotenv` is the text of `.env`. */
export const describeDotenv = (
  names: readonly string[],
  variables: Readonly<Record<string, string | undefined>>,
  dotenv: string,
): string[] =>
  [...dotenv.matchAll(DEFINITION)]
    .map(([, name = "", definition = ""]) => ({ name, definition, value: variables[name] }))
    .filter(({ name, value }) => names.includes(name) && value !== undefined)
    .flatMap(({ name, definition, value = "" }) => {
      const cut = (TEXTS.has(name) ? CUT_TEXT : CUT).exec(definition)?.[1];
      const beforeDollar = EXPANDED.exec(definition)?.[1];
      // Another value is from the environment, which takes precedence.
      return [
        ...(cut === value ? [`${name} ends at a # in .env; write its value in quotes`] : []),
        ...(beforeDollar !== undefined && value.startsWith(beforeDollar)
          ? [
              `${name} contains a $ in .env, which starts the name of a variable, also in single quotes; write \\$`,
            ]
          : []),
      ];
    });
