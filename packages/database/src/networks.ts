/** The networks of users in either database: from where they have registered or logged in. */
import { and, desc, eq, notInArray, sql } from "drizzle-orm";
import { placeholders, type RepositoryClient, type Tables } from "./repository-client.ts";
import type { Timestamp } from "./timestamp.ts";

/** The largest number of networks that are stored for one user. */
const MAX_NETWORKS = 20;

export function createNetworks(
  { orm, prepare, attemptAll }: RepositoryClient,
  { users, userNetworks, now, forShare }: Tables,
) {
  const { userId, networkDigest, lastSeenAt } = userNetworks;
  const given = placeholders("userId");
  const times = prepare(orm.select({ lastSeenAt }).from(userNetworks).where(eq(userId, given.userId)));

  return {
    /**
     * Stores the network with the current time; of more than `MAX_NETWORKS` of one user, the oldest are deleted.
     * @param tokenVersion stores nothing if the user has another one. @default any
     */
    storeNetwork: (id: number, digest: string, tokenVersion?: number): Promise<void> => {
      const ofVersion = tokenVersion === undefined ? undefined : eq(users.tokenVersion, tokenVersion);
      // Waits for a password change that has not been committed.
      const row = sql`select ${users.id}, ${digest}, ${now} from ${users} where ${and(eq(users.id, id), ofVersion)} ${forShare}`;
      const inserted = orm.insert(userNetworks).select(row);
      const store = inserted.onConflictDoUpdate({
        target: [userId, networkDigest],
        set: { lastSeenAt: now },
      });
      const ofUser = eq(userId, id);
      const latest = orm.select({ networkDigest }).from(userNetworks).where(ofUser).orderBy(desc(lastSeenAt));
      const others = and(ofUser, notInArray(networkDigest, latest.limit(MAX_NETWORKS)));
      // A separate statement, which sees the rows of other replicas that were stored before it.
      return attemptAll(store, orm.delete(userNetworks).where(others));
    },
    /** Returns when each network of the user was last stored. */
    findNetworkTimes: async (id: number): Promise<Timestamp[]> =>
      (await times({ userId: id })).map(({ lastSeenAt }) => lastSeenAt),
  };
}
