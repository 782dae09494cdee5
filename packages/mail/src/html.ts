/**
 * The one frame of all mails, as HTML. Everything in it is escaped, it loads nothing except the product's picture, and it is
 * readable without pictures and without the style sheet, which some mail programs remove. Tables, because Outlook ignores the
 * width and the padding of other elements.
 */
import type { Language } from "@latchkey/contracts";

interface Button {
  readonly text: string;
  readonly link: string;
  /** Before the link as text. */
  readonly linkBelow: string;
}

interface HtmlMail {
  readonly language: Language;
  readonly subject: string;
  /** The product's name. null: none */
  readonly name: string | null;
  /** Of the button and of links, as CSS. White text on it, and it on white, is readable. */
  readonly color: string;
  /** The URL of the product's picture. null: none */
  readonly logo: string | null;
  /** Plain text. One of them can be only the link, the code or the URL; a list has only lines that begin with `- `. */
  readonly paragraphs: readonly string[];
  readonly button: Button | null;
  readonly code: string | null;
  /** The product's page. null: none */
  readonly url: string | null;
}

const FONT = "font-family:system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
const DARK = `@media (prefers-color-scheme: dark) {
.page { background: #0e1116 !important; }
.card { background: #181d24 !important; }
.card, .card p, .card li { color: #e9ecf0 !important; }
.card .link { color: #9ec1ff !important; }
.card .button { border-color: #8590a0 !important; }
.card .code { background: #333b46 !important; }
}`;

export function writeHtml(mail: HtmlMail): string {
  const { language, subject, name, color, logo } = mail;
  const picture =
    logo === null
      ? ""
      : `<img src="${Bun.escapeHTML(logo)}" alt="" height="40" style="display:block;height:40px;max-width:100%;margin:0 0 12px;border:0;background:#ffffff">\n`;
  const heading =
    name === null
      ? ""
      : `<p style="margin:0 0 24px;font-size:18px;font-weight:600"><bdi>${Bun.escapeHTML(name)}</bdi></p>\n`;
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${Bun.escapeHTML(subject)}</title>
<style>
:root { color-scheme: light dark; supported-color-schemes: light dark; }
${DARK}
</style>
</head>
<body class="page" style="margin:0;padding:0;background:#f2f4f7">
<table role="presentation" class="page" width="100%" cellpadding="0" cellspacing="0" border="0" style="background:#f2f4f7">
<tr><td align="center" style="padding:24px 12px">
<table role="presentation" class="card" width="100%" cellpadding="0" cellspacing="0" border="0"
style="max-width:560px;background:#ffffff;border-top:4px solid ${color};border-radius:8px;color:#1a1f26">
<tr><td align="left" style="padding:28px 24px 12px;font-size:16px;line-height:1.5;${FONT}">
${picture}${heading}${blocksOf(mail).join("\n")}
</td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`;
}

function blocksOf({ paragraphs, button, code, color, url }: HtmlMail): string[] {
  const linkStyle = `color:${color};word-break:break-all`;
  const anchor = (target: string) =>
    `<a class="link" href="${Bun.escapeHTML(target)}" style="${linkStyle}">${Bun.escapeHTML(target)}</a>`;
  let isButtonShown = button === null;
  return paragraphs.flatMap((paragraph) => {
    if (paragraph === code) return [codeBlock(code)];
    if (paragraph === url) return [`<p style="margin:0 0 16px;font-size:14px">${anchor(url)}</p>`];
    if (paragraph.split("\n").every((line) => line.startsWith("- "))) return [list(paragraph)];
    const marked = [button?.link, code].filter((text) => text != null);
    const isOnlyLink = paragraph === button?.link;
    const blocks = isOnlyLink
      ? []
      : [textBlock(paragraph, marked, (text) => (text === code ? strong(text) : anchor(text)))];
    if (!isButtonShown && button && paragraph.includes(button.link)) {
      isButtonShown = true;
      blocks.push(buttonBlock(button, color));
      if (isOnlyLink)
        blocks.push(
          `<p style="margin:0 0 24px;font-size:14px">${Bun.escapeHTML(button.linkBelow)}<br>\n${anchor(button.link)}</p>`,
        );
    }
    return blocks;
  });
}

const strong = (code: string): string => `<strong style="font-size:24px">${Bun.escapeHTML(code)}</strong>`;

const codeBlock = (code: string): string =>
  `<p class="code" style="margin:0 0 24px;padding:16px;border-radius:6px;background:#f2f4f7;font-size:32px;line-height:1.2;font-weight:700;letter-spacing:4px;text-align:center;font-family:ui-monospace,Menlo,Consolas,monospace">${Bun.escapeHTML(code)}</p>`;

const list = (paragraph: string): string => {
  const items = paragraph.split("\n").map((line) => `<li>${Bun.escapeHTML(line.slice(2))}</li>`);
  return `<ul style="margin:0 0 16px;padding:0 0 0 24px">\n${items.join("\n")}\n</ul>`;
};

const buttonBlock = ({ text, link }: Button, color: string): string =>
  `<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="margin:0 0 20px">
<tr><td bgcolor="${color}" style="border-radius:6px;background:${color}">
<a class="button" href="${Bun.escapeHTML(link)}"
style="display:inline-block;padding:12px 24px;border:1px solid ${color};border-radius:6px;color:#ffffff;font-weight:600;text-decoration:none">${Bun.escapeHTML(text)}</a>
</td></tr>
</table>`;

/** Writes the paragraph, with these parts of it as `mark` returns them. */
function textBlock(paragraph: string, marked: readonly string[], mark: (text: string) => string): string {
  let parts: readonly { readonly text: string; readonly isMarked: boolean }[] = [
    { text: withBreaks(paragraph), isMarked: false },
  ];
  for (const found of marked)
    parts = parts.flatMap((part) =>
      part.isMarked
        ? [part]
        : part.text
            .split(found)
            .flatMap((text, index) => [
              ...(index > 0 ? [{ text: found, isMarked: true }] : []),
              { text, isMarked: false },
            ]),
    );
  const html = parts.map(({ text, isMarked }) => (isMarked ? mark(text) : Bun.escapeHTML(text)));
  return `<p style="margin:0 0 16px">${html.join("").replaceAll(BREAK, "<br>")}</p>`;
}

/** No text contains this control character. */
const BREAK = "\u0000";
/** An operator breaks long lines at about this length or later. */
const SHORT_LINE = 60;

/** Marks the ends of lines that were broken although the next word had room, as in an address or a signature. */
const withBreaks = (paragraph: string): string =>
  paragraph
    .split("\n")
    .map((line, index, lines) => {
      const next = lines[index + 1]?.split(" ")[0];
      const isShort = next !== undefined && line.length + 1 + next.length <= SHORT_LINE;
      return isShort ? `${line}${BREAK}` : line;
    })
    .join("\n");
