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
const READY = '200 {"status":"ready"}';

/** Expects that every route fails in time, that the service is not ready, and that it is live. */
async function expectDown(service: FaultyPostgres): Promise<void> {
  const responses = Promise.all([service.readiness(), service.requestAll()]);
  expect(await service.expectLiveDuring(responses)).toEqual([UNREADY, DOWN]);
}

/** Expects that every write fails in time, that reads succeed, and that the service is ready. */
async function expectReadOnly(service: FaultyPostgres): Promise<void> {
  const responses = Promise.all([service.readiness(), service.requestAll()]);
  expect(await service.expectLiveDuring(responses)).toEqual([
    READY,
    { reads: HEALTHY.reads, writes: WRITES_FAIL },
  ]);
}

/** Kills the server; disposing the result restarts it. */
async function kill(): Promise<AsyncDisposable> {
  await server.kill();
  return { [Symbol.asyncDispose]: () => server.start() };
}

/** Makes the server reject all writes, like a standby, until the result is disposed. */
async function makeReadOnly(): Promise<AsyncDisposable> {
  const alter = async (change: string) => {
    await server.query(`alter system ${change}`);
    await server.query("select pg_reload_conf()");
  };
  await alter("set default_transaction_read_only = on");
  return { [Symbol.asyncDispose]: () => alter("reset default_transaction_read_only") };
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

test("the service recovers when its connections are terminated repeatedly under load", async () => {
  await using service = await openFaultyPostgres(server);
  for (let round = 0; round < 5; round++) {
    const writers = await service.startWriters();
    await service.expectLiveDuring(cutConnections(service));
    writers.stop();
    for (const outcome of await writers.ended) expect(outcome).toBeOneOf([201, 503]);
    await service.expectRecovery();
  }
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

test("the service stays ready and reads succeed when PostgreSQL is read-only after a failover", async () => {
  await using service = await openFaultyPostgres(server);
  const writers = await service.startWriters();
  {
    await using _readOnly = await makeReadOnly();
    expect(await writers.ended).toEqual(WRITERS_FAIL);
    await expectReadOnly(service);
  }
  await service.expectRecovery();
});

test("the service stays ready and reads succeed when statements fail as on a full disk", async () => {
  await using service = await openFaultyPostgres(server);
  const { databaseUrl } = service;
  await server.query(
    `create function fill() returns trigger language plpgsql as
    $$ begin raise exception using errcode = 'disk_full'; end $$`,
    databaseUrl,
  );
  for (const table of ["todos", "users"]) {
    const event = "before insert or update or delete";
    await server.query(`create trigger fill ${event} on ${table} execute function fill()`, databaseUrl);
  }
  await expectReadOnly(service);
  await server.query("drop function fill cascade", databaseUrl);
  await service.expectRecovery();
});
