/** Determines which addresses share a budget. */
import { toAsciiEmail } from "@latchkey/contracts";

/**
 * Names the budget that a mail to the address uses. Unverified addresses that differ only in the tag (`ada+shop@example.com`)
 * share a separate budget: they can neither flood the mailbox nor use up the budget of the address without a tag.
 */
export function mailboxOf(address: string, isVerified: boolean): string {
  const ascii = toAsciiEmail(address);
  const at = ascii.lastIndexOf("@");
  const local = ascii.slice(0, at);
  const tagIndex = isVerified ? -1 : local.indexOf("+");
  // No address contains a space, so no address has this name.
  const name = tagIndex > 0 ? `${local.slice(0, tagIndex)} tagged` : local;
  return `${name}${ascii.slice(at)}`;
}
