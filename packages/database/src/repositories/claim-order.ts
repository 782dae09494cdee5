/** Which due mail a claim is for. */
import { and, asc, desc, eq, type SQL } from "drizzle-orm";
import type { Dialect } from "../dialect.ts";
import type { ClaimOrder } from "./mail-policy.ts";

/**
 * Returns the conditions of the mails that precede others, and how mails with the same one are ordered. Among those to verified e-mails,
 * the mails that were requested from a familiar network of their user come first, because strangers cannot cause them.
 */
export function claimOrder({ outbox }: Dialect["tables"], order: ClaimOrder) {
  const { attempts, isRecipientVerified, isFamiliar, nextAttemptAt } = outbox;
  const isVerified = (familiar: boolean) => and(eq(isRecipientVerified, true), eq(isFamiliar, familiar));
  const conditions: Readonly<Record<ClaimOrder, readonly (SQL | undefined)[]>> = {
    oldest: [undefined],
    newest: [eq(attempts, 0)],
    "newest-verified": [isVerified(true), isVerified(false)],
  };
  const direction = order === "oldest" ? asc : desc;
  return { conditions: conditions[order], orderBy: direction(nextAttemptAt) };
}
