/** Encrypted connections to real PostgreSQL and Redis servers; nothing falls back to plaintext. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DatabaseUnavailable, openDatabase } from "@latchkey/database";
import { createCertificate, hasOpenssl, type ServerCertificate } from "@latchkey/testing/certificates";
import { openFolder } from "@latchkey/testing/folder";
import { inFullRun } from "@latchkey/testing/full-run";
import { SECRET_KEY } from "@latchkey/testing/keys";
import { type PostgresServer, startPostgresServer } from "@latchkey/testing/postgres-server";
import { startRedisServer } from "@latchkey/testing/redis-server";
import { startProcess } from "@latchkey/testing/service-process";
import { redisTest } from "../support/redis.ts";
import { migratedPostgresServer } from "../support/shared-resources.ts";

const stack = new AsyncDisposableStack();
let trusted: ServerCertificate;
let other: ServerCertificate;
beforeAll(async () => {
  if (!hasOpenssl) return;
  const folder = stack.use(await openFolder());
  trusted = await createCertificate(folder.path, "trusted");
  other = await createCertificate(folder.path, "other");
});
afterAll(() => stack.disposeAsync());

inFullRun(describe.skipIf(!hasOpenssl))("PostgreSQL", () => {
  let server: PostgresServer;
  let url: string;
  beforeAll(async () => {
    server = stack.use(await startPostgresServer({}, trusted));
    url = await server.createDatabase();
  });

  /** Whether the connection to a database is encrypted, or why there is none. */
  async function connectionTo(databaseUrl: string): Promise<string> {
    await using database = await openDatabase({ url: databaseUrl });
    const error: unknown = await database.ping().catch((reason: unknown) => reason);
    if (error instanceof DatabaseUnavailable) return error.reason;
    const rows = await server.query<{ ssl: boolean }>(
      `select distinct ssl from pg_stat_ssl join pg_stat_activity using (pid)
      where application_name = 'latchkey' and datname = current_database()`,
      url,
    );
    return rows.map(({ ssl }) => (ssl ? "encrypted" : "plaintext")).join();
  }

  test.each([
    ["", "127.0.0.1", "plaintext"],
    ["sslmode=require", "127.0.0.1", "encrypted"],
    ["sslmode=verify-ca", "127.0.0.1", "UNABLE_TO_VERIFY_LEAF_SIGNATURE"],
    ["sslmode=verify-ca&sslrootcert=OTHER", "127.0.0.1", "UNABLE_TO_VERIFY_LEAF_SIGNATURE"],
    ["sslmode=verify-ca&sslrootcert=TRUSTED", "localhost", "encrypted"],
    ["sslmode=verify-full", "127.0.0.1", "UNABLE_TO_VERIFY_LEAF_SIGNATURE"],
    ["sslmode=verify-full&sslrootcert=OTHER", "127.0.0.1", "UNABLE_TO_VERIFY_LEAF_SIGNATURE"],
    ["sslmode=verify-full&sslrootcert=TRUSTED", "127.0.0.1", "encrypted"],
    ["sslmode=verify-full&sslrootcert=TRUSTED", "localhost", "ERR_TLS_CERT_ALTNAME_INVALID"],
  ])(
    "with ?%s, a connection to %s, whose certificate is valid for 127.0.0.1, is: %s",
    async (query, host, expected) => {
      const parameters = query.replace("TRUSTED", trusted.caFile).replace("OTHER", other.caFile);
      expect(await connectionTo(`${url.replace("127.0.0.1", host)}?${parameters}`)).toBe(expected);
    },
  );

  test("a service with sslmode=verify-full accepts a private CA in NODE_EXTRA_CA_CERTS, and refuses any other", async () => {
    const variables = { AUTH_SECRET_KEY: SECRET_KEY, DATABASE_URL: `${url}?sslmode=verify-full` };
    await using service = startProcess({ ...variables, NODE_EXTRA_CA_CERTS: trusted.caFile });
    expect(await service.ready()).toBeString();
    await using refusing = startProcess({ ...variables, NODE_EXTRA_CA_CERTS: other.caFile });
    expect(await refusing.ended()).toEqual({
      code: 69,
      stderr:
        "The database is unavailable (UNABLE_TO_VERIFY_LEAF_SIGNATURE): TLS: unable to verify the first certificate.\n",
    });
  });

  test("a server without TLS is refused, not used unencrypted", async () => {
    const plainUrl = await (await migratedPostgresServer()).createMigrated();
    const parameters = `sslmode=verify-full&sslrootcert=${trusted.caFile}`;
    expect(await connectionTo(`${plainUrl}?${parameters}`)).toBe("ERR_POSTGRES_TLS_NOT_AVAILABLE");
  });
});

const encryptedRedisTest = inFullRun(hasOpenssl ? redisTest : test.skip);
encryptedRedisTest(
  "rediss:// works with a CA in NODE_EXTRA_CA_CERTS, and refuses another CA and another host",
  async () => {
    await using redis = await startRedisServer(trusted);
    const reach = async (certificate: ServerCertificate, host: string, message: string): Promise<void> => {
      await using folder = await openFolder();
      const REDIS_URL = redis.url.replace("127.0.0.1", host);
      const env = { DATABASE_URL: folder.databaseUrl, NODE_EXTRA_CA_CERTS: certificate.caFile };
      await using service = startProcess({ ...env, REDIS_URL });
      expect(await service.line(message)).toBeDefined();
      expect(service.lines.filter(({ msg }) => /limits are/.test(String(msg)))).toHaveLength(1);
    };
    const unreachable = (reason: string) =>
      `Redis is unreachable (${reason}): rate limits are counted in this process`;
    await Promise.all([
      reach(trusted, "127.0.0.1", "rate limits are shared through Redis"),
      reach(other, "127.0.0.1", unreachable("SELF_SIGNED_CERT_IN_CHAIN")),
      reach(trusted, "localhost", unreachable("ERR_TLS_CERT_ALTNAME_INVALID")),
    ]);
  },
);
