/** HTML from a template: whatever is put into one is text and is escaped, unless it came out of one itself. */

export interface Html {
  readonly markup: string;
}

type Value = string | number | Html | readonly Html[];

export function html(texts: TemplateStringsArray, ...values: readonly Value[]): Html {
  const markup = texts.reduce((before, text, index) => {
    const value = values[index - 1];
    return before + (value === undefined ? "" : markupOf(value)) + text;
  });
  return { markup };
}

/** For markup that is ours, or escaped by other means. */
export const raw = (markup: string): Html => ({ markup });

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function markupOf(value: Value): string {
  if (typeof value === "number") return String(value);
  if (typeof value === "string") return value.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
  if ("markup" in value) return value.markup;
  return value.map(({ markup }) => markup).join("");
}

/** JSON that is safe inside a `script` element: no `<` can end the element or open a comment in it. */
export const inlineJson = (value: unknown): Html => raw(JSON.stringify(value).replaceAll("<", "\\u003c"));
