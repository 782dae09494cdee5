/** Whether the texts of a page can be read: unbroken words, and contrast. */
import type { Page } from "@latchkey/testing/chromium";

/** The words that are displayed on more than one line. Longer ones, such as tokens, do not always fit on a phone. */
export const brokenWordsOf = (page: Page): Promise<string[]> =>
  page.evaluate(`(() => {
    const broken = new Set();
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      for (const { 0: word, index } of texts.currentNode.textContent.matchAll(/[\\p{L}\\p{N}_]{2,30}/gu)) {
        const range = document.createRange();
        range.setStart(texts.currentNode, index);
        range.setEnd(texts.currentNode, index + word.length);
        const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
        if (lines.size > 1) broken.add(word);
      }
    }
    return [...broken];
  })()`);

/** Whether the page has a dark background, and its visible texts with less contrast than the minimum (WCAG 2.2, 1.4.3). */
export const contrastOf = (page: Page, minimum: number): Promise<{ scheme: string; faint: string[] }> =>
  page.evaluate(`(() => {
    const pixel = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    const luminanceOf = (layers) => {
      for (const layer of layers) {
        pixel.fillStyle = layer;
        pixel.fillRect(0, 0, 1, 1);
      }
      const [red, green, blue] = [...pixel.getImageData(0, 0, 1, 1).data].map((value) =>
        value <= 10 ? value / 3294.6 : ((value / 255 + 0.055) / 1.055) ** 2.4);
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const probe = document.createElement("i");
    probe.style.backgroundColor = "Canvas";
    document.body.append(probe);
    const canvas = getComputedStyle(probe).backgroundColor;
    probe.remove();
    const backgroundsOf = (element) => element === null
      ? [canvas]
      : [...backgroundsOf(element.parentElement), getComputedStyle(element).backgroundColor];
    const faint = new Set();
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const text = texts.currentNode.textContent.trim();
      const element = texts.currentNode.parentElement;
      if (text === "" || !element.checkVisibility({ visibilityProperty: true })) continue;
      const layers = backgroundsOf(element);
      const both = [luminanceOf(layers), luminanceOf([...layers, getComputedStyle(element).color])];
      const ratio = (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05);
      if (ratio < ${minimum}) faint.add(ratio.toFixed(1) + " " + text.slice(0, 40));
    }
    const scheme = luminanceOf(backgroundsOf(document.body)) < 0.2 ? "dark" : "light";
    return { scheme, faint: [...faint] };
  })()`);
