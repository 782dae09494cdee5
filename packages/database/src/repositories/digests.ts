/** Digests of e-mails for the log, with a key of the database: so that a new signing key does not cut the history of a user in two. */
import { createHmac } from "node:crypto";
import { toAsciiEmail } from "@latchkey/contracts";
import { eq } from "drizzle-orm";
import type { Dialect } from "../dialect.ts";
import { singleRow } from "../row-decoder.ts";
import type { RepositoryClient } from "./repository-client.ts";

/** As long as the digests of the service that have a key derived from the signing key. */
const DIGEST_HEX_CHARACTERS = 32;

export type EmailDigest = (email: string) => string;

export interface DigestRepository {
  /** Reads the key, and returns the function that computes the `email_digest` of log lines. */
  openEmailDigest(): Promise<EmailDigest>;
}

export function createDigestRepository(
  { orm, prepare }: RepositoryClient,
  { tables: { digestKeys } }: Dialect,
): DigestRepository {
  const byName = prepare(orm.select().from(digestKeys).where(eq(digestKeys.name, "log e-mails")));
  return {
    openEmailDigest: async () => {
      const { key } = singleRow(await byName({}));
      return (email) =>
        createHmac("sha256", key).update(toAsciiEmail(email)).digest("hex").slice(0, DIGEST_HEX_CHARACTERS);
    },
  };
}
