/** The texts of the pages in all languages. A new language is a file beside this one, and a line here. */
import type { Language } from "@latchkey/contracts";
import { de } from "./de.ts";
import { en, type PageTexts } from "./en.ts";

export const PAGE_TEXTS: Readonly<Record<Language, PageTexts>> = { en, de };
