/** What must remain when a user removes a passkey or an identity: a way to log in, or a mail that leads to one. */
import { hasPassword, type LoginRule } from "@latchkey/database";

interface LoginRuleOptions {
  /** With mail, every user can request a reset. */
  readonly sendsMail: boolean;
  readonly hasPasskeys: boolean;
  /** The issuers of the configured providers. Identities of other providers cannot log in. */
  readonly issuers: readonly string[];
}

export const createLoginRule =
  ({ sendsMail, hasPasskeys, issuers }: LoginRuleOptions): LoginRule =>
  (methods) =>
    sendsMail ||
    hasPassword(methods.user) ||
    (hasPasskeys && methods.passkeys > 0) ||
    methods.issuers.some((issuer) => issuers.includes(issuer));
