/** The languages of pages and mails. Each has one file of texts in `packages/mail` and one in the pages of the gateway. */

export const SHIPPED_LANGUAGES = ["en", "de"] as const;
/** A tag of BCP 47. */
export type Language = (typeof SHIPPED_LANGUAGES)[number];
/** The configured languages. The first one is the default. */
export type Languages = readonly [Language, ...Language[]];

export const isLanguage = (tag: string): tag is Language => SHIPPED_LANGUAGES.some((one) => one === tag);

/** Whether users have a `locale`. */
export const hasLocales = (languages: Languages): boolean => languages.length > 1;

/** Returns the language of a user: the stored one or, if it is null or was removed from the configuration, the default. */
export const languageOf = (locale: string | null, languages: Languages): Language =>
  languages.find((one) => one === locale) ?? languages[0];
