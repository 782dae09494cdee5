/** The language of a page: which requests choose which one. */
import { expect, test } from "bun:test";
import type { Languages } from "@latchkey/contracts";
import { chooseLanguage, languageVary } from "../../src/pages/language.ts";
import { PAGE_TEXTS } from "../../src/pages/texts/texts.ts";

const choose = (accepted: string, query = "", languages: Languages = ["en", "de"]) => {
  const headers = new Headers(accepted === "" ? {} : { "accept-language": accepted });
  return chooseLanguage({ url: `http://a.example/account${query}`, headers }, languages);
};

test.each([
  ["", "en"],
  ["de", "de"],
  ["de-AT,en;q=0.5", "de"],
  ["DE-at", "de"],
  ["fr, de;q=0.4, en;q=0.3", "de"],
  ["de;q=0.4, en;q=0.9", "en"],
  ["de;q=0.5, en;q=0.5", "de"],
  ["de;q=0, *;q=0.1", "en"],
  ["de;q=0", "en"],
  ["de;q=9, en;q=0.1", "en"],
  ["deu, dex-AT, d, *x", "en"],
  ["*", "en"],
  [";;;,,,=;q", "en"],
])("Accept-Language %s chooses %s", (accepted, language) => expect<string>(choose(accepted)).toBe(language));

test("?lang decides, unless it is not configured", () => {
  expect(choose("en", "?lang=de")).toBe("de");
  expect(choose("de", "?x=1&lang=en")).toBe("en");
  for (const lang of ["../../x", "fr", "", "DE", "de%00", "__proto__", "%FF"])
    expect(choose("de", `?lang=${lang}`)).toBe("de");
});

test("with one language, nothing is chosen, and no response varies; otherwise each does", () => {
  expect(choose("en", "?lang=en", ["de"])).toBe("de");
  expect([languageVary(["de"]), languageVary(["de", "en"])]).toEqual([null, "Accept-Language"]);
});

test("of a header of 8 KB, only the beginning is read", () => {
  expect(choose(`${"x,".repeat(4096)}de`)).toBe("en");
  expect(choose(`de,${"en;q=0.1,".repeat(900)}`)).toBe("de");
});

const shapeOf = (value: unknown): unknown =>
  typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shapeOf(member)]))
    : typeof value;
const placeholdersIn = (value: unknown): string[] =>
  [...new Set(JSON.stringify(value).match(/\{\w+\}/g))].sort();

test.each(Object.entries(PAGE_TEXTS))(
  "%s has every text, and only the placeholders of English",
  (language, texts) => {
    expect(texts.language).toBe(language);
    expect(shapeOf(texts)).toEqual(shapeOf(PAGE_TEXTS.en));
    expect(JSON.stringify(texts)).not.toContain('""');
    for (const [name, text] of Object.entries(texts.scripts)) {
      const known = placeholdersIn(Object.entries(PAGE_TEXTS.en.scripts).find(([one]) => one === name)?.[1]);
      expect(placeholdersIn(text).filter((one) => !known.includes(one))).toEqual([]);
    }
  },
);
