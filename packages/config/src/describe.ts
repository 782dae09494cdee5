/** Describes variables to operators, for `--check-config`, `--help` and the documentation. */
import type { Environment } from "./parse.ts";
import type { Variable } from "./variable-kinds.ts";
import { VARIABLE_NAMES, VARIABLES, type VariableName } from "./variables.ts";

const MASK = "***";

/** Returns `NAME=value` lines. Secrets are masked. The effect of an unset variable is in parentheses. */
export const describeEnvironment = ({ texts }: Pick<Environment, "texts">): string =>
  VARIABLE_NAMES.map((name) => `${name}=${describeValue(name, texts[name])}\n`).join("");

function describeValue(name: VariableName, text: string | null): string {
  const { secret, unset }: Variable<unknown> = VARIABLES[name];
  if (text === null) return `(${unset.replaceAll("`", "")})`;
  if (secret === "all") return MASK;
  return secret === "url" ? maskUrl(text) : text.trim().replaceAll(/\r?\n/g, "\\n") || "(none)";
}

/**
 * Masks the password, the query (which can contain a password) and the user name of Redis (which can be a token). Returns
 * `***` if the URL cannot be parsed, or if an "@" after the host shows that the password contains a "/", "?" or "#".
 */
function maskUrl(url: string): string {
  if (url.startsWith("file:")) return url;
  const parsed = URL.parse(url);
  if (parsed === null || /@/.test(parsed.pathname + parsed.search + parsed.hash)) return MASK;
  if (parsed.username !== "" && parsed.protocol.startsWith("redis")) parsed.username = MASK;
  if (parsed.password !== "") parsed.password = MASK;
  if (parsed.search !== "") parsed.search = MASK;
  parsed.hash = "";
  return parsed.href;
}

/** As Markdown. */
export function defaultOf(name: VariableName): string {
  const { default: text, unset, requiredInProduction }: Variable<unknown> = VARIABLES[name];
  const fallback = typeof text === "string" ? `\`${text}\`` : unset;
  return requiredInProduction ? `${fallback}; required in production` : fallback;
}

/** As Markdown. */
function descriptionOf(name: VariableName): string {
  const { description, secret, file: hasFile }: Variable<unknown> = VARIABLES[name];
  return secret || hasFile ? `${description}. From a file: \`${name}_FILE\`` : description;
}

const TEXT_WIDTH = 74;
const INDENTATION = " ".repeat(6);

/** All variables as plain text for `--help`: the name and the default, then the description. */
export const variablesHelp = (): string =>
  VARIABLE_NAMES.map((name) => {
    const text = `${descriptionOf(name)}. Accepted: ${VARIABLES[name].accepted}.`;
    return wrap(`${name}  default: ${defaultOf(name)}`, "  ") + wrap(text, INDENTATION);
  })
    .join("")
    .replaceAll("`", "");

/** Breaks a text between words. Indents the first line by `firstIndentation`, and all other lines by `INDENTATION`. */
const wrap = (text: string, firstIndentation: string): string =>
  `${firstIndentation}${Bun.wrapAnsi(text, TEXT_WIDTH).replaceAll("\n", `\n${INDENTATION}`)}\n`;
