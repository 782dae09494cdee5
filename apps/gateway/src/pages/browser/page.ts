/** What every page of accounts has: its elements, its texts, and the address of the service. */
import type { Client } from "@latchkey/client";
import type { ScriptTexts } from "../texts/en.ts";
import { lang } from "./language.ts";

/** The cast assumes that the caller knows the element: the service writes the pages. */
export const find = <Found extends HTMLElement = HTMLElement>(id: string): Found | null =>
  document.getElementById(id) as Found | null;

/** @throws {Error} if the page has no such element */
export function get<Found extends HTMLElement = HTMLElement>(id: string): Found {
  const element = find<Found>(id);
  if (!element) throw new Error(`The page has no #${id}`);
  return element;
}

export const findForm = (id: string): HTMLFormElement | null => find<HTMLFormElement>(id);

export const all = <Found extends HTMLElement = HTMLElement>(selector: string): NodeListOf<Found> =>
  document.querySelectorAll(selector);

export const { root: rootPath = "", texts: textsOfPage = "{}" } =
  document.querySelector<HTMLElement>(".card")?.dataset ?? {};

/** The address of the service, which a proxy can serve below a prefix of the path. */
export const ROOT = new URL(rootPath || ".", location.href).href;
/** The page without parameters: to it, providers send users. */
export const HERE = location.origin + location.pathname;

/** The cast is safe because the service writes the texts of its own type into the page. */
export const texts = JSON.parse(textsOfPage) as ScriptTexts;

/** Letters of scripts from left to right, before U+0300. */
const LEFT_TO_RIGHT = /^[\0-\u02ff]*$/;

/** A name in another direction would reorder the text around it: isolates it (UAX #9, FSI and PDI). */
const isolate = (value: string): string => (LEFT_TO_RIGHT.test(value) ? value : `\u2068${value}\u2069`);

/** Inserts the values in place of `{name}`. */
export const fill = (text: string, values: Readonly<Record<string, string | number>>): string =>
  text.replaceAll(/\{(\w+)\}/g, (_, name) => isolate(String(values[name])));

/** A line break after the hyphen of "e-mail" would look like two words. */
export const unbroken = (text: string): string => text.replaceAll(/\b(e)-(mail)/gi, "$1\u2011$2");

/** The cast is safe because every language of a page is one that users can have. A service with one language ignores the member. */
export const locale = lang as Parameters<Client["register"]>[0]["locale"];
export const dateOf = (time: string): string =>
  new Date(time).toLocaleDateString(lang, { dateStyle: "long" });

export const inSeconds = (seconds: number): string => {
  const [value, unit] =
    seconds > 90
      ? ([Math.ceil(seconds / 60), "minutes"] as const)
      : ([Math.ceil(seconds), "seconds"] as const);
  return new Intl.RelativeTimeFormat(lang).format(value, unit);
};

export const setText = (id: string, text: string): void => {
  const place = find(id);
  if (place) place.textContent = text;
};

/** What takes longer is announced to users of screen readers. Others see that it runs. */
const ANNOUNCED_AFTER_MS = 1000;

/** Announces `work` while it runs. */
export async function announce<Result>(work: () => Promise<Result>): Promise<Result> {
  const timer = setTimeout(() => setText("progress", texts.wait), ANNOUNCED_AFTER_MS);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
    setText("progress", "");
  }
}

/** Runs `work` while the page has nothing to show. */
export async function wait(work: () => Promise<void>): Promise<void> {
  const main = document.querySelector("main");
  main?.setAttribute("aria-busy", "true");
  await announce(work).finally(() => main?.removeAttribute("aria-busy"));
}

export const setHidden = (id: string, isHidden: boolean): void => {
  const place = find(id);
  if (place) place.hidden = isHidden;
};
