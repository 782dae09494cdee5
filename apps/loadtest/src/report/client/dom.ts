/** The DOM API that the page's script uses. TypeScript's own declarations would replace Bun's in the whole project. */
import type { Chart } from "../chart.ts";

interface PageElement {
  readonly clientWidth: number;
  readonly dataset: Readonly<Record<string, string | undefined>>;
}

declare const document: {
  readonly documentElement: PageElement;
  getElementById(id: string): { readonly textContent: string | null } | null;
  querySelectorAll(selector: string): Iterable<PageElement>;
};
declare const getComputedStyle: (element: PageElement) => { getPropertyValue(name: string): string };
declare const matchMedia: (query: string) => { addEventListener(type: "change", run: () => void): void };
declare const ResizeObserver: new (run: () => void) => { observe(element: PageElement): void };

/** Not validated: the same release has rendered the page and its charts. */
export const readCharts = (id: string): readonly Chart[] =>
  JSON.parse(document.getElementById(id)?.textContent ?? "[]");

export const plotElements = (): readonly PageElement[] => [...document.querySelectorAll(".plot")];

/** In the current colour scheme, `#rrggbb`. */
export const colourOf = (variable: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${variable}`).trim();

export const onResize = (element: PageElement, run: () => void): void =>
  new ResizeObserver(run).observe(element);

/** Called when the colour scheme changes, also for printing. */
export function onSchemeChange(run: () => void): void {
  for (const query of ["(prefers-color-scheme: dark)", "print"])
    matchMedia(query).addEventListener("change", run);
}
