/** The service on a failing PostgreSQL server: errors in time, correct probes, and no lost writes after the recovery. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type PostgresServer, startPostgresServer } from "@latchkey/testing/postgres-server";
import {
  type FaultyPostgres,
  HEALTHY,
  openFaultyPostgres,
  READS_FAIL,
  WRITERS_FAIL,
  WRITES_FAIL,
} from "../support/faulty-postgres.ts";

setDefaultTimeout(30_000);

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgresServer({ max_connections: "12", max_wal_senders: "0" });
});
afterAll(() => server[Symbol.asyncDispose]());

const DOWN = { reads: READS_FAIL, writes: WRITES_FAIL };
const UNREADY = '503 {"status":"unavailable"}';

/** Expects that every route fails in time, that the service is not ready, and that it is live. */
async function expectDown(service: FaultyPostgres): Promise<void> {
  const responses = Promise.all([service.readiness(), service.requestAll()]);
  expect(await service.expectLiveDuring(responses)).toEqual([UNREADY, DOWN]);
}

/** Kills the server; disposing the result restarts it. */
async function kill(): Promise<AsyncDisposable> {
  await server.kill();
  return { [Symbol.asyncDispose]: () => server.start() };
}

/** Terminates the service's connections and waits until they are closed. */
const cutConnections = ({ databaseUrl }: FaultyPostgres) =>
  server.query(
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity
    where application_name = 'latchkey' and datname = current_database()`,
    databaseUrl,
  );

/** Opens connections until none are free, except those reserved for superusers. */
async function takeConnections(url: string): Promise<AsyncDisposable> {
  const taken = new AsyncDisposableStack();
  for (;;) {
    const client = taken.use(new Bun.SQL(url, { max: 1 }));
    const failure = await client.connect().then(
      () => null,
      (error: unknown) => error,
    );
    if (failure === null) continue;
    expect(failure).toMatchObject({ errno: "53300" });
    return taken;
  }
}

test("the service recovers when PostgreSQL is killed under load and restarted", async () => {
  await using service = await openFaultyPostgres(server);
  const writers = await service.startWriters();
  {
    await using _killed = await kill();
    expect(await writers.ended).toEqual(WRITERS_FAIL);
    await expectDown(service);
  }
  await service.expectRecovery();
});

test("the service recovers when PostgreSQL freezes under load and resumes", async () => {
  await using service = await openFaultyPostgres(server);
  const writers = await service.startWriters();
  {
    using _frozen = await server.freeze();
    await expectDown(service);
    expect(await writers.ended).toEqual(WRITERS_FAIL);
  }
  await service.expectRecovery();
});

test("the service keeps its connections, and fails in time when PostgreSQL has no free ones", async () => {
  await using service = await openFaultyPostgres(server);
  {
    await using _others = await takeConnections(service.databaseUrl);
    expect(await service.requestAll()).toEqual(HEALTHY);
    await cutConnections(service);
    await using _remaining = await takeConnections(service.databaseUrl);
    await expectDown(service);
  }
  await service.expectRecovery();
});
