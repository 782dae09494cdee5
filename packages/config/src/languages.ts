/** The languages of pages and mails. */
import { isLanguage, type Languages, SHIPPED_LANGUAGES } from "@latchkey/contracts";
import { invalid, type Kind } from "./variable-kinds.ts";

export const languages: Kind<Languages> = {
  accepted: `one or more of ${SHIPPED_LANGUAGES.join(", ")}, separated by commas, the default first`,
  parse: (text) => {
    const [first, ...others] = text.split(",").map((entry) => {
      const tag = entry.trim();
      return isLanguage(tag) ? tag : invalid();
    });
    if (first === undefined) return invalid();
    if (new Set([first, ...others]).size <= others.length) return invalid("contains a language twice");
    return [first, ...others];
  },
};
