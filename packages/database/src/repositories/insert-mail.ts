/**
 * The mails to the e-mail of a user. Each is inserted in the transaction of its cause, and states whether the e-mail is verified: the
 * sender has a place for those (`ClaimOrder`).
 */
import { sql } from "drizzle-orm";
import type { Dialect, Orm } from "../dialect.ts";
import type { OutboxRow } from "../tables.ts";

type UserMail = Pick<OutboxRow, "kind"> & { readonly userId: number } & Partial<
    Pick<OutboxRow, "emailDigest">
  >;

export async function insertMail(
  transaction: Orm,
  { tables: { outbox, users } }: Dialect,
  mail: UserMail,
): Promise<void> {
  const isOwn = sql`${users.id} = ${mail.userId}`;
  const isRecipientVerified = sql<boolean>`(select ${users.emailVerified} from ${users} where ${isOwn})`;
  await transaction.insert(outbox).values({ ...mail, isRecipientVerified });
}
