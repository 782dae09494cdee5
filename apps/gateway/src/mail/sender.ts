/**
 * Sends the mails of the outbox. Invariant: no transaction and no database connection waits for the mail server. A mail is
 * sent again if the process ends after the mail server has accepted the mail but before the outbox is updated.
 */
import { setTimeout } from "node:timers/promises";
import { hasCode, hasLink, isNonexistent, isNotification, MAILS } from "@latchkey/contracts";
import {
  type ClaimedMail,
  type ClaimOrder,
  hasPassword,
  type Mail,
  type OutboxRepository,
  type Recipient,
  type SuppressedMails,
  type User,
  withTimeout,
} from "@latchkey/database";
import {
  type ListedLogins,
  type MailContents,
  mailboxOf,
  type Transport,
  toMailError,
  type WriteMail,
} from "@latchkey/mail";
import type { Logger } from "../observability/logger.ts";
import type { Metrics } from "../observability/metrics.ts";
import { MAIL_BUDGETS } from "../rate-limit/limits.ts";
import type { TokenKeys } from "../tokens/token-keys.ts";
import { createSuppressions } from "./suppressions.ts";

interface MailSenderOptions
  extends Pick<TokenKeys, "digests" | "oneTimeTokens" | "loginCodes" | "factorStates"> {
  readonly outbox: OutboxRepository;
  readonly transport: Transport;
  readonly from: string;
  readonly writeMail: WriteMail;
  /** Returns the passkeys and identities of a user, for the mails about a changed password and about changed identities. */
  readonly listLogins: (userId: number) => Promise<ListedLogins>;
  /** Returns the number of unused recovery codes of a user, for the mail about a used one. */
  readonly countRecoveryCodes: (userId: number) => Promise<number>;
  readonly logger: Pick<Logger, "warn" | "info">;
  readonly observe?: Metrics["observeMail"] | undefined;
  /**
   * Time between two reads of the outbox. Requests never cause a read: the work of sending a mail would delay responses, and so
   * reveal whether the e-mail is registered. @default 1000
   */
  readonly pollMs?: number;
}

/**
 * So many mails are sent at the same time. Otherwise, mails to recipients for which the mail server does not respond, and any number
 * of mails to accounts of a stranger, would delay all others: one place is for verified e-mails, one for first attempts (`ClaimOrder`).
 */
const PLACES: readonly ClaimOrder[] = ["newest-verified", "newest", "oldest", "oldest", "oldest"];
/** Timeout of `close`; less than the default grace period of a shutdown. */
const CLOSE_MS = 5000;
const SUPPRESSIONS_MS = 1000;
const CLEANING_MS = 60 * 60 * 1000;
const FIRST_PAUSE_SECONDS = 5;
const MAX_PAUSE_SECONDS = 5 * 60;

export interface MailSender {
  /**
   * Waits for the mails that are being sent.
   * @throws {Error} if the mail server does not respond: another process sends the mails when their leases have expired
   */
  close(): Promise<void>;
}

export function startMailSender(options: MailSenderOptions): MailSender {
  const { outbox, transport, from, writeMail, listLogins, digests, logger, observe } = options;
  const { oneTimeTokens, loginCodes, factorStates, countRecoveryCodes, pollMs = 1000 } = options;
  const stopping = new AbortController();
  const suppressions = createSuppressions(logger);
  let isDatabaseFailing = false;
  let sweeps = 0;

  const isWanted = ({ kind, user, recipient, isTaken, state }: ClaimedMail): boolean => {
    if (!recipient || isNonexistent(recipient.email)) return false;
    // A notification with a stored recipient is sent even if the user was deleted.
    if (!user) return isNotification(kind);
    const isChange = kind === "email-change-approval" || kind === "email-change";
    if (isChange && (isTaken || !oneTimeTokens.isBoundTo(state, kind, user))) return false;
    return MAILS[kind].isWanted(user);
  };

  const loginsOf = async (user: User) => ({
    ...(await listLogins(user.id)),
    hasPassword: hasPassword(user),
  });

  const contentsOf = async (mail: Mail, recipient: Recipient): Promise<MailContents> => {
    const { kind, user, state } = mail;
    if (!user) return {};
    if (kind === "login-code") {
      const code = loginCodes.codeOf(state ?? "", user);
      // Before the first login with a code: somebody else can have added logins before the owner confirmed the e-mail. If the
      // e-mail is not verified, the login ends them.
      const isFirst = user.loginCodeRevision === 0 && user.emailVerified;
      return isFirst ? { code, logins: await loginsOf(user) } : { code };
    }
    if (kind === "factor-code") return { code: factorStates.emailCodeOf(state ?? "", user) };
    if (kind === "recovery-code") return { recoveryCodes: await countRecoveryCodes(user.id) };
    if (hasLink(kind)) return { token: oneTimeTokens.sign(kind, expiryOf(mail), user) };
    // A stored recipient can be a former e-mail of the user, whose logins do not concern it.
    const isListed = (kind === "password" || kind === "identity") && user.email === recipient.email;
    if (!isListed) return {};
    const logins = await loginsOf(user);
    return { logins: { ...logins, hasPassword: kind === "identity" && logins.hasPassword } };
  };

  const report = (event: string, { kind, userId }: Mail, reason: string): void =>
    logger.warn({ event, kind, user_id: userId, reason }, event);

  const reportSuppressed = ({ kind, userId, count }: SuppressedMails): void => {
    if (isNotification(kind) || hasCode(kind)) suppressions.add(kind, userId, count);
    observe?.("suppressed", kind, count);
  };

  const process = async (mail: Mail): Promise<void> => {
    const { id, kind, userId, recipient } = mail;
    mail.suppressed.forEach(reportSuppressed);
    if (mail.isDeleted) return;
    if (!recipient || !isWanted(mail)) return outbox.discard(mail);
    if (isExpired(mail)) {
      report("mail.failed", mail, "expired");
      observe?.("failed", kind);
      return outbox.discard(mail);
    }
    if (!mail.isWithinBudget) {
      reportSuppressed({ kind, userId, count: 1 });
      return outbox.discard(mail);
    }
    try {
      // The mail about a deletion keeps the language of the user, who does not exist any more.
      const locale = mail.user ? mail.user.locale : mail.state;
      const written = writeMail(kind, { ...(await contentsOf(mail, recipient)), locale });
      await transport.send({ from, to: recipient.email, ...written });
      observe?.("sent", kind);
    } catch (error) {
      const { reason, isPermanent } = toMailError(error);
      report(isPermanent ? "mail.failed" : "mail.postponed", mail, reason);
      if (!isPermanent) return outbox.postpone(mail, pauseSeconds(mail.attempts));
      observe?.("failed", kind);
    }
    await outbox.finish(id);
  };

  const budgets = Object.values(MAIL_BUDGETS);
  const digestMailbox = ({ email, emailVerified }: Recipient): string =>
    digests.email(mailboxOf(email, emailVerified));

  const sendDue = async (order: ClaimOrder): Promise<void> => {
    while (!stopping.signal.aborted) {
      const mail = await outbox.claim({ digestMailbox, budgets, isWanted, isExpired, order });
      isDatabaseFailing = false;
      if (!mail) return;
      await process(mail);
    }
  };

  const sweep = async (order: ClaimOrder): Promise<void> => {
    sweeps += 1;
    try {
      await sendDue(order);
    } finally {
      sweeps -= 1;
      if (sweeps === 0) suppressions.flush();
    }
  };

  const poll = async (work: () => Promise<void>, pauseMs: number): Promise<void> => {
    while (!stopping.signal.aborted) {
      await work().catch((error) => {
        if (!isDatabaseFailing) logger.warn({ err: error }, "the outbox cannot be read or changed");
        isDatabaseFailing = true;
      });
      // `close` ends this pause early.
      await setTimeout(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };

  const loops = PLACES.map((order) => poll(() => sweep(order), pollMs));
  loops.push(poll(outbox.deleteOld, CLEANING_MS));
  // A sweep does not end while mails are requested without a pause.
  loops.push(poll(async () => suppressions.flush(), SUPPRESSIONS_MS));

  return {
    async close() {
      stopping.abort();
      await withTimeout(Promise.all(loops), CLOSE_MS, () => new Error("The mail server did not respond"));
    },
  };
}

/** In milliseconds since 1970. */
const expiryOf = ({ kind, createdAt }: ClaimedMail): number => Date.parse(createdAt) + MAILS[kind].lifetimeMs;

const isExpired = (mail: ClaimedMail): boolean => expiryOf(mail) <= Date.now();

/** Half of the pause is random, so that a mail server that has recovered does not receive all mails at once. */
const pauseSeconds = (attempts: number): number =>
  Math.min(FIRST_PAUSE_SECONDS * 2 ** (attempts - 1), MAX_PAUSE_SECONDS) * (0.5 + Math.random() / 2);
