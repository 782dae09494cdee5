/** What each language defines for mails: complete by its type, so that the compiler names every missing text. */
import type { Lifetime, LinkKind, MailKind, MailText } from "@latchkey/contracts";

export interface MailLanguage {
  /**
   * Paragraphs without a fixed width. `[ at {product}]` is omitted if no name is configured; `{lifetime}` is replaced by `lifetimes`.
   * A paragraph with only `{link}` or `{code}` becomes the button or the large code.
   */
  readonly mails: Readonly<Record<MailKind, MailText>>;
  readonly buttons: Readonly<Record<LinkKind, string>>;
  /** Below the button, before the link as text. */
  readonly linkBelow: string;
  readonly lifetimes: Readonly<Record<Lifetime, string>>;
  /** In place of `{product}` in an operator's text, if no name is configured. */
  readonly yourAccount: string;
  /** The items of a list of logins. */
  readonly thePassword: string;
  readonly quoted: (name: string) => string;
  /** @param date the first ten characters of RFC 3339 */
  readonly dateOf: (date: string) => string;
  /** Before a list of passkeys, and before a list of other logins. */
  readonly passkeysLogIn: string;
  readonly loginsLogIn: string;
  /** With `{count}`. */
  readonly recoveryCodesLeft: string;
}
