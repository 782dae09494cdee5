/** Determines which e-mail addresses get mail, and which addresses share a budget. */
import { domainToASCII, domainToUnicode } from "node:url";

function parts(address: string) {
  const at = address.lastIndexOf("@");
  const domain = address.slice(at + 1);
  return { local: address.slice(0, at), domain, ascii: domainToASCII(domain) };
}

/** The domain `.invalid` never exists (RFC 2606). Tests and imports use `.invalid` for addresses that get no mail. */
export const isNonexistent = (address: string): boolean => address.endsWith(".invalid");

/**
 * Whether all programs read the address in the same way. nodemailer parses lists and maps domains to ASCII: mail would reach
 * `ada@example.com` if the address is `x<ada@example.com`, or if the domain contains a soft hyphen. Some programs decode the
 * words of RFC 2047: these programs read `=?utf-8?q?ada?=@example.com` as `ada@example.com`.
 */
export function isUnambiguous(address: string): boolean {
  const { domain, ascii } = parts(address);
  const isWord = /^[^\s\p{Cc}()<>[\]:;\\,"]+$/u.test(address) && !address.includes("=?");
  return isWord && [ascii, domainToUnicode(ascii)].includes(domain);
}

/**
 * Names the budget that a mail to the address uses. Unverified addresses that differ only in the tag (`ada+shop@example.com`)
 * share a separate budget: they can neither flood the mailbox nor use up the budget of the address without a tag. An ambiguous
 * address gets no mail. Its domain is not mapped to ASCII, because the address must not use the budget of another mailbox.
 */
export function mailboxOf(address: string, isVerified: boolean): string {
  const { local, domain, ascii } = parts(address);
  const tagIndex = isVerified ? -1 : local.indexOf("+");
  // No address contains a space, so no address has this name.
  const name = tagIndex > 0 ? `${local.slice(0, tagIndex)} tagged` : local;
  return `${name}@${isUnambiguous(address) ? ascii : domain}`;
}
