/** Creates HTML from template literals. Interpolated text is escaped. Interpolated `Html` is not escaped again. */
export type Html = { readonly markup: string };

type Value = string | number | Html | readonly Html[];

export function html(texts: TemplateStringsArray, ...values: readonly Value[]): Html {
  return { markup: String.raw({ raw: texts }, ...values.map(markupOf)) };
}

/** Creates HTML from markup that is trusted or already escaped. */
export const raw = (markup: string): Html => ({ markup });

function markupOf(value: Value): string {
  if (typeof value === "number" || typeof value === "string") return Bun.escapeHTML(value);
  return "markup" in value ? value.markup : value.map(({ markup }) => markup).join("");
}
