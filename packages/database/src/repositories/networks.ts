/** Stores the networks from which users registered or logged in. */
import { and, desc, eq, notInArray, sql } from "drizzle-orm";
import type { Dialect } from "../dialect.ts";
import type { RepositoryClient } from "./repository-client.ts";

/** The maximum number of networks that are stored for one user. */
const MAX_NETWORKS = 20;

export interface Networks {
  /**
   * Stores the network with the current time. Then deletes the user's oldest networks, if there are more than
   * `MAX_NETWORKS`.
   * @param tokenVersion nothing is stored if the user has another `tokenVersion`. @default any version
   */
  storeNetwork(id: number, digest: string, tokenVersion?: number): Promise<void>;
}

export function createNetworks(
  { orm, attemptAll }: RepositoryClient,
  { tables: { users, userNetworks }, now, forShare }: Dialect,
): Networks {
  const { userId, networkDigest, lastSeenAt } = userNetworks;
  return {
    storeNetwork: (id, digest, tokenVersion) => {
      const ofVersion = tokenVersion === undefined ? undefined : eq(users.tokenVersion, tokenVersion);
      // `forShare` makes the query wait for the commit of a concurrent password change.
      const row = sql`select ${users.id}, ${digest}, ${now} from ${users} where ${and(eq(users.id, id), ofVersion)} ${forShare}`;
      const inserted = orm.insert(userNetworks).select(row);
      const store = inserted.onConflictDoUpdate({
        target: [userId, networkDigest],
        set: { lastSeenAt: now },
      });
      const ofUser = eq(userId, id);
      const latest = orm.select({ networkDigest }).from(userNetworks).where(ofUser).orderBy(desc(lastSeenAt));
      const others = and(ofUser, notInArray(networkDigest, latest.limit(MAX_NETWORKS)));
      // The deletion is a separate statement. In one statement, two replicas could not see each other's new rows.
      return attemptAll(store, orm.delete(userNetworks).where(others));
    },
  };
}
