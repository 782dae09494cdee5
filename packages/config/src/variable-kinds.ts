/** The kinds of environment variables. A kind converts a text to a value, and describes in words which texts are accepted. */
import { isIP, isIPv6 } from "node:net";
import { decodePercent, TOKEN_PLACEHOLDER } from "@latchkey/contracts";
import { hostOf, leavesMachine } from "./network.ts";

export interface Kind<Value> {
  /** Describes the accepted texts in error messages and in the documentation. */
  readonly accepted: string;
  /** @throws {InvalidValue} */
  readonly parse: (text: string, readFile: ReadFile) => Value;
}

/** Returns the text of a file, or its bytes as latin1, or throws. @default encoding utf8 */
export type ReadFile = (path: string, encoding?: "utf8" | "latin1") => string;

/** The context on which defaults and warnings depend. */
export interface VariableContext {
  readonly isProduction: boolean;
  /** Whether the log is written to a terminal. */
  readonly isTerminal: boolean;
  readonly isSet: (name: string) => boolean;
  /** Whether the variable is set, and not to `false`. */
  readonly isOn: (name: string) => boolean;
}

/** `Value` includes null if the variable has no default. */
export interface Variable<Value> extends Kind<NonNullable<Value>> {
  /** One or two sentences of Markdown, for the documentation. */
  readonly description: string;
  /** The default is a text, because the documentation shows the text that an operator would set. */
  readonly default?: string | ((context: VariableContext) => string);
  /** What applies if it is not set: a default that depends on the context, or the behavior without one. @default "none" */
  readonly unset: string;
  /** `all`: never printed. `url`: its secret parts are masked. Secrets can also be read from the file at `NAME_FILE`. */
  readonly secret?: "all" | "url";
  /** Whether the value can also be read from the file at `NAME_FILE`. Secrets do not need this member. */
  readonly file?: true;
  readonly requiredInProduction?: true;
  /** Returns why a valid value is insecure, as the rest of a sentence that begins with the name; null if it is secure. */
  warn?(value: NonNullable<Value>, context: VariableContext): string | null;
}

type Options<Value> = Omit<Variable<Value>, keyof Kind<unknown> | "description" | "unset">;

export function variable<Value extends {}>(
  kind: Kind<Value>,
  options: Options<Value> & ({ readonly default: string } | { readonly default: unknown; unset: string }),
): { describe(description: string): Variable<Value> };
export function variable<Value extends {}>(
  kind: Kind<Value>,
  options?: Options<Value> & { readonly default?: never; readonly unset?: string },
): { describe(description: string): Variable<Value | null> };
export function variable<Value extends {}>(kind: Kind<Value>, options?: Options<Value>) {
  return { describe: (description: string) => ({ unset: "none", ...kind, ...options, description }) };
}

/** A value that is not accepted. `problem` must not contain the value of a secret. */
export class InvalidValue extends Error {
  override readonly name = "InvalidValue";
  readonly code = "INVALID_VALUE";
  /**
   * @param problem the rest of a sentence that begins with the variable's name. @default a text that depends on the value
   * @param details `variable` and `accepted` replace the name and the accepted texts of the definition
   */
  constructor(
    readonly problem?: string,
    readonly details: { readonly variable?: string; readonly accepted?: string } = {},
  ) {
    super(problem);
  }
}

export const oneOf = <const Value extends string>(...values: readonly Value[]): Kind<Value> => ({
  accepted: values.join(", "),
  parse: (text) => values.find((value) => value === text) ?? invalid(),
});

export const listOf = <const Value extends string>(...values: readonly Value[]): Kind<readonly Value[]> => ({
  accepted: `one or more of ${values.join(", ")}, separated by commas`,
  parse: (text) =>
    text.split(",").map((entry) => values.find((value) => value === entry.trim()) ?? invalid()),
});

export const boolean: Kind<boolean> = {
  accepted: "true or false",
  parse: (text) => (text === "true" || text === "false" ? text === "true" : invalid()),
};

/** Accepts only decimal digits, without a leading zero. */
export const wholeNumber = (minimum: number, maximum: number): Kind<number> => ({
  accepted: `a whole number from ${minimum} to ${maximum}`,
  parse: (text) => {
    const value = /^(0|[1-9][0-9]*)$/.test(text) ? Number(text) : Number.NaN;
    return value >= minimum && value <= maximum ? value : invalid();
  },
});

/** An address to listen on. The value has no brackets. */
export const host: Kind<string> = {
  accepted: "a host name or an IP address",
  parse: (text) => {
    const [, bracketed] = /^\[(.*)\]$/.exec(text) ?? [];
    if (bracketed !== undefined) return isIPv6(bracketed) ? bracketed : invalid();
    return isIP(text) !== 0 || /^[^\s*/:@[\]]+$/.test(text) ? text : invalid();
  },
};

export const text = (accepted: string, pattern: RegExp): Kind<string> => ({
  accepted,
  parse: (value) => (pattern.test(value) ? value : invalid()),
});

/** A colour under white text, whose contrast WCAG 2.2 requires (1.4.3). */
const MIN_CONTRAST = 4.5;
export const buttonColor: Kind<string> = {
  accepted: `a colour such as #2457a6, with a contrast of at least ${MIN_CONTRAST}:1 to white`,
  parse: (value) => {
    if (!/^#[0-9a-f]{6}$/i.test(value)) return invalid();
    const contrast = contrastToWhite(value);
    return contrast >= MIN_CONTRAST
      ? value
      : invalid(
          `has a contrast of ${(Math.floor(contrast * 100) / 100).toFixed(2)}:1 to the white text on it`,
        );
  },
};

/** The contrast ratio and the relative luminance of WCAG 2.2. */
function contrastToWhite(color: string): number {
  const [red = 0, green = 0, blue = 0] = [...Buffer.from(color.slice(1), "hex")].map((byte) => {
    const share = byte / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05);
}

/** A rate limit: requests per window. */
export interface Quota {
  /** At least 1. */
  readonly limit: number;
  readonly windowMs: number;
  /** The text that clients read, such as `5 per 1 minute`. */
  readonly text: string;
}

const UNIT_MS = new Map(Object.entries({ second: 1_000, minute: 60_000, hour: 3_600_000 }));

export const quota: Kind<Quota> = {
  accepted: "N/second, N/minute or N/hour",
  parse: (text) => {
    // With at most nine digits, every count is a safe integer.
    const [, limit, unit = ""] = /^([1-9][0-9]{0,8})\/([a-z]+)$/.exec(text) ?? [];
    const windowMs = UNIT_MS.get(unit) ?? invalid();
    return { limit: Number(limit), windowMs, text: `${limit} per 1 ${unit}` };
  },
};

/** Origins of packaged applications and of extensions. `URL` does not return them, because their schemes are not special. */
const APPLICATION_ORIGIN =
  /^(capacitor|ionic|tauri|chrome-extension|moz-extension):\/\/[a-z0-9.-]+(:[1-9]\d*)?$/;
const isOrigin = (entry: string): boolean =>
  APPLICATION_ORIGIN.test(entry) || (/^https?:/.test(entry) && URL.parse(entry)?.origin === entry);

/** Origins in the form that browsers send: scheme, host and port (RFC 6454 §6.1). */
export const origins: Kind<"*" | readonly string[]> = {
  accepted: "* or origins such as https://app.example.com or capacitor://localhost, separated by commas",
  parse: (text) => {
    if (text.trim() === "*") return "*";
    const entries = text.split(",").flatMap((entry) => entry.trim() || []);
    // Browsers never send such an origin, so it would match nothing.
    if (entries.some((entry) => /.\*|\*./.test(entry))) return invalid("contains * inside an origin");
    return entries.every(isOrigin) ? entries : invalid("contains an invalid origin");
  },
};

/**
 * Browsers offer passkeys only to pages that use HTTPS or come from this machine (W3C Secure Contexts). The host of the page
 * must not be an IP address.
 */
export const passkeyOrigins: Kind<readonly string[]> = {
  accepted: "origins such as https://app.example.com or http://localhost:3000, separated by commas",
  parse: (text, readFile) => {
    const entries = origins.parse(text, readFile);
    if (entries === "*" || entries.length === 0) return invalid();
    if (entries.some((entry) => isIP(hostOf(entry)) !== 0))
      invalid("contains an IP address, for which browsers offer no passkeys: on this machine, use localhost");
    const isUsable = (entry: string) =>
      /^https?:/.test(entry) && (entry.startsWith("https:") || !leavesMachine(entry));
    if (!entries.every(isUsable)) invalid("contains an origin for which browsers offer no passkeys");
    return entries;
  },
};

const SMTP_URL = /^\s*smtp(s?):\/\/[^/?#]+\/?(\?tls=off)?$/i;

/** Returns options of nodemailer. A mail server on this machine does not have to offer STARTTLS. */
export const mailUrl = {
  accepted: "smtp://USER:PASSWORD@HOST:PORT or smtps://…",
  parse: (text: string) => {
    const [, isSmtps, isOff] = SMTP_URL.exec(text) ?? [];
    const url = isSmtps === undefined || (isSmtps && isOff) ? null : URL.parse(text);
    if (url === null) return invalid();
    if (url.username === "" && url.password !== "") return invalid("contains a password without a user");
    return {
      host: url.hostname.replace(/^\[|\]$/g, ""),
      port: Number(url.port || (isSmtps ? 465 : 587)),
      secure: isSmtps !== "",
      requireTLS: !isSmtps && !isOff && leavesMachine(text),
      ignoreTLS: isOff !== undefined,
      ...(url.username !== "" && { auth: { user: decode(url.username), pass: decode(url.password) } }),
    };
  },
} satisfies Kind<unknown>;

const decode = (text: string): string =>
  decodePercent(text) ?? invalid("contains an invalid percent-encoding");

const isHttp = (url: URL | null): url is URL => url !== null && /^https?:$/.test(url.protocol);

export const LINK_MAX_LENGTH = 500;

/** The value has no trailing slash, so that a path can be appended. */
export const baseUrl: Kind<string> = {
  accepted: "a URL such as https://accounts.example.com or https://example.com/accounts",
  parse: (text) => {
    const url = isLink(text) ? new URL(text) : invalid();
    const base = url.origin + url.pathname.replace(/\/$/, "");
    return base === text.replace(/\/$/, "") && !base.endsWith("/") ? base : invalid();
  },
};

export const link: Kind<string> = {
  accepted: "a URL such as https://app.example.com",
  parse: (text) => (isLink(text) ? text : invalid()),
};

const isLink = (text: string): boolean =>
  /^[\x21-\x7e]+$/.test(text) && text.length <= LINK_MAX_LENGTH && isHttp(URL.parse(text));

export const linkTemplate: Kind<string> = {
  accepted: "a URL with {token} such as https://app.example.com/page#token={token}",
  parse: (text) => {
    const [before, ...rest] = text.split(TOKEN_PLACEHOLDER);
    return isLink(text) && rest.length === 1 && before?.includes("/", "https://".length) ? text : invalid();
  },
};

export function invalid(problem?: string): never {
  throw new InvalidValue(problem);
}
