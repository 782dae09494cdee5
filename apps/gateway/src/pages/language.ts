/** Chooses the language of a page: that of `?lang`, else of `Accept-Language`, else the default. Only configured ones are chosen. */
import { hasLocales, type Language, type Languages } from "@latchkey/contracts";

/** Longer headers are ignored from here on. Browsers send less than 100 characters. */
const HEADER_MAX_LENGTH = 1024;

/** The header on which the page depends, for `Vary`; null: there is only one language. */
export const languageVary = (languages: Languages): "Accept-Language" | null =>
  hasLocales(languages) ? "Accept-Language" : null;

/** @param request its URL and its headers */
export function chooseLanguage(request: Pick<Request, "url" | "headers">, languages: Languages): Language {
  const [fallback, ...others] = languages;
  if (others.length === 0) return fallback;
  const { url } = request;
  const start = url.indexOf("?");
  const given = start === -1 ? null : new URLSearchParams(url.slice(start)).get("lang");
  return (
    languages.find((one) => one === given) ??
    negotiate(request.headers.get("accept-language") ?? "", languages) ??
    fallback
  );
}

/**
 * Returns the language with the highest weight (RFC 9110 §12.5.4); of several, the first one of the header. A range such as `de-AT`
 * also accepts `de` (RFC 4647 §3.4). `*` accepts the default. A malformed weight counts as 0.
 */
function negotiate(header: string, languages: Languages): Language | null {
  const [fallback] = languages;
  let best: Language | null = null;
  let bestWeight = 0;
  for (const entry of header.slice(0, HEADER_MAX_LENGTH).toLowerCase().split(",")) {
    const [range = "", ...parameters] = entry.split(";").map((part) => part.trim());
    const language = range === "*" ? fallback : languages.find((one) => `${range}-`.startsWith(`${one}-`));
    const weight = weightOf(parameters);
    if (language !== undefined && weight > bestWeight) [best, bestWeight] = [language, weight];
  }
  return best;
}

function weightOf(parameters: readonly string[]): number {
  const given = parameters.find((one) => one.startsWith("q="))?.slice("q=".length);
  if (given === undefined) return 1;
  return /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(given) ? Number(given) : 0;
}
