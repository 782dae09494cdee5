/** Every limit of the service, once. */
import type { MailBudget } from "@latchkey/database";

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

/**
 * Each kind of mail counts for its recipient. Resets count separately: anybody can cause the mails of an account that has a
 * foreign e-mail, and must not prevent its owner's resets. A user can name any address as a new e-mail.
 */
export const MAIL_BUDGETS: readonly MailBudget[] = [
  { per: "recipient", kinds: ["reset"], capacity: 3, refillMs: 2 * HOUR_MS },
  { per: "recipient", kinds: ["verification", "email-change"], capacity: 3, refillMs: 2 * HOUR_MS },
  { per: "recipient", kinds: ["password", "email", "passkey"], capacity: 5, refillMs: DAY_MS },
  { per: "user", kinds: ["email-change"], capacity: 3, refillMs: DAY_MS },
];
