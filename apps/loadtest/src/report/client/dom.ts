/**
 * The parts of the browser that the page's script uses, declared by hand: TypeScript's own declarations of them would
 * take the place of Bun's in the whole project.
 */
import type { Chart } from "../chart.ts";

export interface PageElement {
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

/** The page was rendered with its charts by the same release, so they are what they say. */
export const readCharts = (id: string): readonly Chart[] =>
  JSON.parse(document.getElementById(id)?.textContent ?? "[]");

export const plotElements = (): readonly PageElement[] => [...document.querySelectorAll(".plot")];

/** As it is in the present scheme, `#rrggbb`. */
export const colourOf = (variable: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${variable}`).trim();

export const onResize = (element: PageElement, run: () => void): void =>
  new ResizeObserver(run).observe(element);

/** When the reader's scheme changes, and when the page goes to paper, which has a scheme of its own. */
export function onSchemeChange(run: () => void): void {
  for (const query of ["(prefers-color-scheme: dark)", "print"])
    matchMedia(query).addEventListener("change", run);
}
