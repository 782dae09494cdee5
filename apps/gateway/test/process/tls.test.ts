/** Encrypted connections to real PostgreSQL and Redis servers; nothing falls back to plaintext. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DatabaseUnavailable, openDatabase } from "@latchkey/database";
import { createCertificate, hasOpenssl, type ServerCertificate } from "@latchkey/testing/certificates";
import { openFolder } from "@latchkey/testing/folder";
import { SECRET_KEY } from "@latchkey/testing/keys";
import { type PostgresServer, startPostgresServer } from "@latchkey/testing/postgres-server";
import { startRedisServer } from "@latchkey/testing/redis-server";
import { startProcess } from "@latchkey/testing/service-process";
import { redisTest } from "../support/redis.ts";
import { sharedPostgresServer } from "../support/shared-resources.ts";

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

describe.skipIf(!hasOpenssl)("PostgreSQL", () => {
  let server: PostgresServer;
  let url: string;
  beforeAll(async () => {
    server = stack.use(await startPostgresServer({}, trusted));
    url = await server.createDatabase();
  });

  /** Whether the connections to a database on `host` are encrypted. */
  async function encryptionWith(query: string, host = "127.0.0.1"): Promise<boolean[]> {
    await using database = await openDatabase({ url: `${url.replace("127.0.0.1", host)}?${query}` });
    await database.ping();
    const rows = await server.query<{ ssl: boolean }>(
      `select distinct ssl from pg_stat_ssl join pg_stat_activity using (pid)
      where application_name = 'latchkey' and datname = current_database()`,
      url,
    );
    return rows.map(({ ssl }) => ssl);
  }

  /** Why a database is not available. */
  async function reasonOf(databaseUrl: string): Promise<string> {
    await using database = await openDatabase({ url: databaseUrl });
    const error = await database.ping().catch((reason) => reason);
    expect(error).toBeInstanceOf(DatabaseUnavailable);
    return error.reason;
  }

  test("sslmode=verify-full works with a private CA in sslrootcert", async () => {
    expect(await encryptionWith(`sslmode=verify-full&sslrootcert=${trusted.caFile}`)).toEqual([true]);
  });

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

  test("sslmode=require encrypts without verifying the certificate", async () => {
    expect(await encryptionWith("sslmode=require")).toEqual([true]);
    expect(await encryptionWith("")).toEqual([false]);
  });

  test.each(["verify-full", "verify-ca"])("sslmode=%s refuses a certificate of another CA", async (mode) => {
    for (const query of [`sslmode=${mode}`, `sslmode=${mode}&sslrootcert=${other.caFile}`])
      expect(await reasonOf(`${url}?${query}`)).toBe("UNABLE_TO_VERIFY_LEAF_SIGNATURE");
  });

  test("verify-full refuses a certificate for another host, which verify-ca accepts", async () => {
    const ca = `sslrootcert=${trusted.caFile}`;
    const named = url.replace("127.0.0.1", "localhost");
    expect(await reasonOf(`${named}?sslmode=verify-full&${ca}`)).toBe("ERR_TLS_CERT_ALTNAME_INVALID");
    expect(await encryptionWith(`sslmode=verify-ca&${ca}`, "localhost")).toEqual([true]);
  });

  test("a server without TLS is refused, not used unencrypted", async () => {
    const plainUrl = await (await sharedPostgresServer()).createMigrated();
    for (const query of ["sslmode=require", `sslmode=verify-full&sslrootcert=${trusted.caFile}`])
      expect(await reasonOf(`${plainUrl}?${query}`)).toBe("ERR_POSTGRES_TLS_NOT_AVAILABLE");
  });
});

const encryptedRedisTest = hasOpenssl ? redisTest : test.skip;
encryptedRedisTest("rediss:// works with a CA in NODE_EXTRA_CA_CERTS, and refuses any other", async () => {
  await using redis = await startRedisServer(trusted);
  await using folder = await openFolder();
  const env = { DATABASE_URL: folder.databaseUrl, REDIS_URL: redis.url };
  for (const [certificate, message] of [
    [trusted, "rate limits are shared through Redis"],
    [other, "Redis is unreachable: rate limits are counted in this process"],
  ] as const) {
    await using service = startProcess({ ...env, NODE_EXTRA_CA_CERTS: certificate.caFile });
    expect(await service.line(message)).toBeDefined();
    expect(service.lines.filter(({ msg }) => /limits are/.test(String(msg)))).toHaveLength(1);
  }
});
