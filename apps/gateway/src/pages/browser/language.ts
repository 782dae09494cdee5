/**
 * The language of the page. One that `?lang` chose is that of the tab, because links, providers and a reload lead to addresses
 * without it: such a page loads again, in this language.
 */
export const { lang } = document.documentElement;

const KEY = "latchkey-language";

/** @returns null also if the browser blocks the storage */
function readLanguage(): string | null {
  try {
    return sessionStorage.getItem(KEY);
  } catch {
    return null;
  }
}

const address = new URL(location.href);
const chosen = readLanguage();
if (address.searchParams.has("lang")) {
  try {
    sessionStorage.setItem(KEY, lang);
  } catch {}
} else if (chosen !== null && chosen !== lang) {
  address.searchParams.set("lang", chosen);
  location.replace(address);
  // The page does nothing until then: the code of a provider works once.
  await new Promise<never>(() => {});
}
