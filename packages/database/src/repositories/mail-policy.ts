/** What the sender decides about the mails of the outbox: recipients, budgets, and which mails it wants. */
import type { MailKind } from "@latchkey/contracts";
import type { OutboxRow, User } from "../tables.ts";

/** An e-mail address, and whether a user has verified the address. */
export type Recipient = Pick<User, "email" | "emailVerified">;

/**
 * Allows a recipient `capacity` mails of these kinds in 24 hours. Then allows one more mail whenever `refillMs` have passed
 * since the latest mail.
 */
export interface MailBudget {
  /** Limits and counts only mails to addresses that are verified, or are not. @default all */
  readonly recipients?: "verified" | "unverified";
  readonly kinds: readonly MailKind[];
  /** Mails that were requested from a familiar network have a budget of their own, which a stranger cannot use up. @default false */
  readonly separatesFamiliar?: boolean;
  readonly capacity: number;
  readonly refillMs: number;
}

/**
 * Which due mail is claimed: the one that is due first, the newest without an attempt, or the newest to a verified e-mail, also if it
 * is sent again (`claim-order.ts`).
 */
export type ClaimOrder = "oldest" | "newest" | "newest-verified";

export interface MailPolicy {
  /** Recipients with the same digest share their budgets. */
  readonly digestMailbox: (recipient: Recipient) => string;
  /** A mail is sent if all budgets of its `kind` allow the mail. All processes lock the budgets in the order of this array. */
  readonly budgets: readonly MailBudget[];
  /** Whether the mail has a recipient and a purpose. An unwanted mail does not count. */
  readonly isWanted: (mail: ClaimedMail) => boolean;
  /** An expired mail does not count. Discard it. */
  readonly isExpired: (mail: ClaimedMail) => boolean;
  /** @default "oldest" */
  readonly order?: ClaimOrder;
}

/** A mail that this process has claimed. `attempts` includes the current attempt. */
export interface ClaimedMail extends Omit<OutboxRow, "recipient" | "isRecipientVerified"> {
  /** The value before the claim: null if no earlier attempt was made. */
  readonly emailDigest: string | null;
  /** The user at the time of the claim. null: no user had the e-mail of the request, or the user was deleted. */
  readonly user: User | null;
  /** The recipient that was stored with the mail, or the user if no recipient was stored. */
  readonly recipient: Recipient | null;
  /** Whether a user has the e-mail address that was stored with the mail. */
  readonly isTaken: boolean;
}

export interface Mail extends ClaimedMail {
  /** Whether the budgets allow the mail. If not, discard the mail, unless it was deleted. */
  readonly isWithinBudget: boolean;
  readonly isDeleted: boolean;
  /** The mails that were deleted with the claim because their budgets are used up, including this one. */
  readonly suppressed: readonly SuppressedMails[];
}

/** Mails of one kind to one user. */
export interface SuppressedMails extends Pick<OutboxRow, "kind" | "userId"> {
  readonly count: number;
}
