/** How e-mail addresses are read: which of them get mail, and which share the budget of a mailbox. */
import { domainToASCII, domainToUnicode } from "node:url";

function parts(address: string) {
  const at = address.lastIndexOf("@");
  const domain = address.slice(at + 1);
  return { local: address.slice(0, at), domain, ascii: domainToASCII(domain) };
}

/** `.invalid` never exists (RFC 2606); tests and imports use it for addresses that get no mail. */
export const isNonexistent = (address: string): boolean => address.endsWith(".invalid");

/**
 * Whether the address can be read in one way only. nodemailer parses it as a list, and maps the domain to ASCII: a mail to
 * `x<ada@example.com`, or with a soft hyphen in the domain, would arrive at `ada@example.com`. Some programs decode the words
 * of RFC 2047: for them, `=?utf-8?q?ada?=@example.com` is `ada@example.com`.
 */
export function isUnambiguous(address: string): boolean {
  const { domain, ascii } = parts(address);
  const isWord = /^[^\s\p{Cc}()<>[\]:;\\,"]+$/u.test(address) && !address.includes("=?");
  return isWord && [ascii, domainToUnicode(ascii)].includes(domain);
}

/**
 * Names the mailbox whose budget a mail to the address uses. Unverified addresses with a tag (`ada+shop@example.com`) share one
 * that no other address uses: they cannot flood the mailbox, nor use up the budget of its owner. Ambiguous ones, which get no
 * mail, could do the latter too, so their domains are not mapped.
 */
export function mailboxOf(address: string, isVerified: boolean): string {
  const { local, domain, ascii } = parts(address);
  const tagIndex = isVerified ? -1 : local.indexOf("+");
  // No address contains a space.
  const name = tagIndex > 0 ? `${local.slice(0, tagIndex)} tagged` : local;
  return `${name}@${isUnambiguous(address) ? ascii : domain}`;
}
