/** What clients and the balancer see of a sick PostgreSQL: failures in time, true probes, and nothing lost when it is back. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type PostgresServer, startPostgresServer } from "@latchkey/testing/postgres-server";
import {
  openPatient,
  type Patient,
  REFUSED,
  UNREADABLE,
  UNWRITABLE,
  WELL,
} from "../support/faulty-postgres.ts";

setDefaultTimeout(30_000);

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgresServer({ max_connections: "12", max_wal_senders: "0" });
});
afterAll(() => server[Symbol.asyncDispose]());

const DOWN = { reads: UNREADABLE, writes: UNWRITABLE };
const UNREADY = '503 {"status":"unavailable"}';
const READY = '200 {"status":"ready"}';

/** Every route is refused in time, readiness says so, and liveness takes no notice. */
async function expectDown(patient: Patient): Promise<void> {
  const answers = Promise.all([patient.readiness(), patient.ask()]);
  expect(await patient.whileAlive(answers)).toEqual([UNREADY, DOWN]);
}

/** Every write is refused in time, and traffic still comes for what can be read. */
async function expectReadOnly(patient: Patient): Promise<void> {
  const answers = Promise.all([patient.readiness(), patient.ask()]);
  expect(await patient.whileAlive(answers)).toEqual([READY, { reads: WELL.reads, writes: UNWRITABLE }]);
}

/** Ends the server until it is disposed. */
async function kill(): Promise<AsyncDisposable> {
  await server.kill();
  return { [Symbol.asyncDispose]: () => server.start() };
}

/** Refuses every write with 25006, as a standby does, until it is disposed. */
async function makeReadOnly(): Promise<AsyncDisposable> {
  const alter = async (change: string) => {
    await server.query(`alter system ${change}`);
    await server.query("select pg_reload_conf()");
  };
  await alter("set default_transaction_read_only = on");
  return { [Symbol.asyncDispose]: () => alter("reset default_transaction_read_only") };
}

/** As an administrator does, or a balancer in between; returns when the server has let go of them. */
const cutConnections = ({ databaseUrl }: Patient) =>
  server.query(
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity
    where application_name = 'latchkey' and datname = current_database()`,
    databaseUrl,
  );

/** Takes the connections that are left, but those kept for superusers. */
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

test("killed under load and started again", async () => {
  await using patient = await openPatient(server);
  const writers = await patient.write();
  {
    await using _killed = await kill();
    expect(await writers.ended).toEqual(REFUSED);
    await expectDown(patient);
  }
  await patient.recover();
});

test("frozen under load and thawed", async () => {
  await using patient = await openPatient(server);
  const writers = await patient.write();
  {
    using _frozen = await server.freeze();
    await expectDown(patient);
    expect(await writers.ended).toEqual(REFUSED);
  }
  await patient.recover();
});

test("connections cut again and again under load", async () => {
  await using patient = await openPatient(server);
  for (let round = 0; round < 5; round++) {
    const writers = await patient.write();
    await patient.whileAlive(cutConnections(patient));
    writers.stop();
    for (const outcome of await writers.ended) expect(outcome).toBeOneOf([201, 503]);
    await patient.recover();
  }
});

test("no connection left", async () => {
  await using patient = await openPatient(server);
  {
    await using _others = await takeConnections(patient.databaseUrl);
    expect(await patient.ask()).toEqual(WELL);
    await cutConnections(patient);
    await using _rest = await takeConnections(patient.databaseUrl);
    await expectDown(patient);
  }
  await patient.recover();
});

test("read-only after a failover: reading goes on, and traffic for it", async () => {
  await using patient = await openPatient(server);
  const writers = await patient.write();
  {
    await using _readOnly = await makeReadOnly();
    expect(await writers.ended).toEqual(REFUSED);
    await expectReadOnly(patient);
  }
  await patient.recover();
});

test("a disk that is full, as far as statements tell: reading goes on, and traffic for it", async () => {
  await using patient = await openPatient(server);
  const { databaseUrl } = patient;
  await server.query(
    `create function fill() returns trigger language plpgsql as
    $$ begin raise exception using errcode = 'disk_full'; end $$`,
    databaseUrl,
  );
  for (const table of ["todos", "users"]) {
    const event = "before insert or update or delete";
    await server.query(`create trigger fill ${event} on ${table} execute function fill()`, databaseUrl);
  }
  await expectReadOnly(patient);
  await server.query("drop function fill cascade", databaseUrl);
  await patient.recover();
});
