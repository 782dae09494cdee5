/** HTML from template literals. Interpolated text is escaped; interpolated HTML is not. */

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

/** For trusted markup, or text that is escaped otherwise. */
export const raw = (markup: string): Html => ({ markup });

function markupOf(value: Value): string {
  if (typeof value === "number" || typeof value === "string") return Bun.escapeHTML(value);
  if ("markup" in value) return value.markup;
  return value.map(({ markup }) => markup).join("");
}

/** JSON for a `script` element: without `<`, it cannot end the element or open a comment. */
export const inlineJson = (value: unknown): Html => raw(JSON.stringify(value).replaceAll("<", "\\u003c"));
