/** The texts of all languages. A new language is a file beside this one, and a line here. */
import type { Language } from "@latchkey/contracts";
import { de } from "./de.ts";
import { en } from "./en.ts";
import type { MailLanguage } from "./language.ts";

export const MAIL_LANGUAGES: Readonly<Record<Language, MailLanguage>> = { en, de };
