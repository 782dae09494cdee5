/** What a user can still log in with, checked under the user's row lock whenever a passkey or an identity is removed. */
import { eq } from "drizzle-orm";
import { LastLogin } from "./errors.ts";
import type { Orm, Tables } from "./repository-client.ts";
import type { User } from "./tables.ts";

export interface LoginMethods {
  readonly user: User;
  /** The number of passkeys. */
  readonly passkeys: number;
  /** The issuers of the identities. */
  readonly issuers: readonly string[];
}

/** Whether a user with these methods can log in. */
export type LoginRule = (methods: LoginMethods) => boolean;

export function createLoginMethods({ passkeys, identities }: Tables) {
  return {
    /** @throws LastLogin if the user could not log in any more. The error rolls the transaction back. */
    expectLogin: async (transaction: Orm, user: User, canLogIn: LoginRule): Promise<void> => {
      const ofUser = eq(passkeys.userId, user.id);
      const found = await transaction.select({ id: passkeys.id }).from(passkeys).where(ofUser);
      const { issuer } = identities;
      const rows = await transaction
        .select({ issuer })
        .from(identities)
        .where(eq(identities.userId, user.id));
      const issuers = rows.map((row) => row.issuer);
      if (!canLogIn({ user, passkeys: found.length, issuers })) throw new LastLogin();
    },
  };
}
