/** E-mail addresses: normalization, forms of an internationalized domain, and the rule for new addresses and for mail. */
import { domainToASCII, domainToUnicode } from "node:url";
import { EMAIL_MAX_LENGTH } from "./bounds.ts";
import { NEW_EMAIL_PATTERN } from "./text.ts";

/**
 * Addresses that differ only in case or surrounding whitespace belong to one user. An overlong text is not lowercased. A domain
 * without a dot is converted to ASCII, because UTS 46 reads other characters, such as `。`, as dots.
 */
export function normalizeEmail(text: string): string {
  const trimmed = text.trim();
  if (trimmed.length > 2 * EMAIL_MAX_LENGTH) return trimmed;
  const email = trimmed.toLowerCase();
  return /@[^@.]*$/.test(email) ? toAsciiEmail(email) : email;
}

/** `domainToASCII` parses URLs. With one of these characters, it would return another host. */
const NOT_CONVERTED = /[\p{Cc}\p{Cf}/?#\\:%@[\]]/u;
/** `domainToASCII` reads a domain whose last label is a number as an IPv4 address: `１.２` would become `1.0.0.2`. */
const IP_ADDRESS = /\.\d+$/;
const ASCII_DOMAIN = /^[a-z0-9-]+(\.[a-z0-9-]+)+$/;
const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text);

const withDomain = (email: string, convert: (domain: string) => string): string => {
  const at = email.lastIndexOf("@") + 1;
  return email.slice(0, at) + convert(email.slice(at));
};

/** Converts an internationalized domain to ASCII (UTS 46), as browsers do. Returns any other address unchanged. */
export const toAsciiEmail = (email: string): string =>
  withDomain(email, (domain) => {
    if (isAscii(domain) || domain.length > EMAIL_MAX_LENGTH || NOT_CONVERTED.test(domain)) return domain;
    const ascii = domainToASCII(domain);
    return ASCII_DOMAIN.test(ascii) && !IP_ADDRESS.test(ascii) ? ascii : domain;
  });

/**
 * Returns the texts under which a user with this address can be stored: the address as sent, with the domain in ASCII, and with
 * the domain in Unicode. Users who registered before domains were converted can be stored in Unicode.
 */
export function emailForms(email: string): [sent: string, ascii: string, unicode: string] {
  const ascii = toAsciiEmail(email);
  const unicode = withDomain(ascii, (domain) =>
    /(^|\.)xn--/.test(domain) && ASCII_DOMAIN.test(domain) ? domainToUnicode(domain) || domain : domain,
  );
  return [email, ascii, unicode];
}

/** Whether two trimmed, lowercase texts are one address. The domain of a stored one can be in ASCII or in Unicode. */
export const isSameEmail = (one: string, other: string): boolean => toAsciiEmail(one) === toAsciiEmail(other);

const MAILABLE = new RegExp(NEW_EMAIL_PATTERN, "u");

/** Whether all programs read the address in the same way, and a mail server can have this domain. */
export function isMailable(email: string): boolean {
  const ascii = toAsciiEmail(email);
  return MAILABLE.test(ascii) && isAscii(ascii.slice(ascii.lastIndexOf("@")));
}

/** The domain `.invalid` never exists (RFC 2606). Tests and imports use `.invalid` for addresses that get no mail. */
export const isNonexistent = (address: string): boolean => address.endsWith(".invalid");
