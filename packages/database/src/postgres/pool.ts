/**
 * The connections of a process. Invariants: no query is sent behind a write or a transaction, which can wait for a locked row.
 * Reads share connections if all are busy, because one round trip then serves several reads. The writes of clients take turns, so that
 * one client whose writes wait for each other does not occupy the connections. In the mode `auto`, only connections that were proved to be
 * direct use named statements, because a pooler can run another client's statement of the same name. Bun's own pool can reconnect at
 * any time without such a proof. Therefore, each connection has its own client, which is closed together with the connection.
 */
import type { SQL } from "bun";
import { callers } from "../caller.ts";
import { withTimeout } from "../timeout.ts";
import { Turns } from "../turns.ts";
import { type ConnectOptions, connect, type PreparedStatements } from "./connection.ts";
import { CLOSED_REASON, DEADLINE_REASON, unavailable } from "./errors.ts";

export interface ConnectionPoolOptions extends ConnectOptions {
  /** Maximum number of connections. */
  readonly size: number;
  readonly preparedStatements: PreparedStatements;
  /**
   * In milliseconds. An older connection is closed when it is idle, so that connections follow a changed host name and the
   * server's sessions do not grow without limit. @default between 25 and 35 minutes, different for each connection
   */
  readonly maxLifeMs?: number | undefined;
}

/** The place of one connection in the pool. */
class Slot {
  /** Number of queries that use the connection, even if the connection has been closed in the meantime. */
  pending = 0;
  /** Whether the last of these queries is a write or a transaction. */
  isExclusive = false;
  /** Whether the connection is closed when its queries end. */
  isExpired = false;
  /** Whether the pool has replaced this slot. */
  isRetired = false;
  /** Set after a failed attempt to open the connection. Until this time, the pool opens other connections if possible. */
  retryAt = 0;
  /** The client of a connection that is open or being opened, otherwise null. */
  client: SQL | null = null;
  isOpening = false;
  /** Equal to `client` while queries can use the connection, otherwise null. */
  ready: SQL | null = null;
}

type Waiter = PromiseWithResolvers<Slot>;

/** Minimum time between two attempts to open an additional connection. */
const RETRY_PAUSE_MS = 1_000;

const MIN_LIFE_MS = 25 * 60_000;
const LIFE_RANGE_MS = 10 * 60_000;

export class ConnectionPool {
  readonly #options: ConnectionPoolOptions;
  /** The waiting reads, in the order of arrival. */
  readonly #reads = new Set<Waiter>();
  readonly #writes = new Turns<Waiter>();
  #slots: readonly Slot[];
  #generation = 0;
  #isClosed = false;

  constructor(options: ConnectionPoolOptions) {
    this.#options = options;
    this.#slots = this.#createSlots();
  }

  /** The number of replacements so far. */
  get generation(): number {
    return this.#generation;
  }

  /**
   * Runs a query on the first free connection. Opens another connection if all open connections are busy.
   * @param isRead whether the query waits for no locked row
   */
  async run<T>(isRead: boolean, query: (client: SQL) => Promise<T>): Promise<T> {
    for (;;) {
      const slot = this.#take(isRead) ?? (await this.#wait(isRead));
      try {
        // A connection can close while it is handed over.
        if (slot.ready !== null) return await query(slot.ready);
      } finally {
        slot.pending--;
        if (!isRead) slot.isExclusive = false;
        if (slot.isExpired && slot.pending === 0) this.#discard(slot);
        if (this.#waiting > 0) this.#serve();
      }
    }
  }

  /** Later queries use new connections. Running queries can finish within `deadlineMs`. */
  replace(): void {
    if (this.#isClosed) return;
    this.#generation++;
    const old = this.#slots;
    this.#slots = this.#createSlots();
    for (const slot of old) {
      slot.isRetired = true;
      this.#discard(slot);
    }
    this.#serve();
  }

  /** Closes all connections. Running queries can finish within `deadlineMs`. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#rejectWaiters(unavailable(CLOSED_REASON));
    await Promise.all(this.#slots.map((slot) => this.#release(slot)));
  }

  /** The number of waiting queries. */
  get #waiting(): number {
    return this.#reads.size + this.#writes.size;
  }

  #createSlots(): readonly Slot[] {
    return Array.from({ length: this.#options.size }, () => new Slot());
  }

  #take(isRead: boolean): Slot | null {
    let best: Slot | null = null;
    for (const slot of this.#slots) {
      if (slot.ready === null || slot.isExclusive || slot.isExpired) continue;
      if (best === null || slot.pending < best.pending) best = slot;
      if (best.pending === 0) break;
    }
    if (best === null) return null;
    // A connection that can still be opened is better than a shared one.
    if (best.pending > 0 && this.#canGrow()) return null;
    best.pending++;
    best.isExclusive = !isRead;
    return best;
  }

  #wait(isRead: boolean): Promise<Slot> {
    if (this.#isClosed) throw unavailable(CLOSED_REASON);
    const waiter = Promise.withResolvers<Slot>();
    const client = callers.getStore()?.client;
    if (isRead) this.#reads.add(waiter);
    else this.#writes.add(client, waiter);
    this.#grow();
    // The caller has an error then. A later write would be one of which nobody knows, such as the claim of a mail.
    return withTimeout(waiter.promise, this.#options.deadlineMs, () => {
      this.#reads.delete(waiter);
      this.#writes.delete(client, waiter);
      return unavailable(DEADLINE_REASON);
    });
  }

  /** Gives free connections to the waiting queries: first to the reads, because a write can follow them on the same connection. */
  #serve(): void {
    while (this.#waiting > 0) {
      const slot = this.#take(this.#reads.size > 0);
      if (slot === null) break;
      this.#next()?.resolve(slot);
    }
    this.#grow();
  }

  #next(): Waiter | undefined {
    const [read] = this.#reads;
    if (!read) return this.#writes.take();
    this.#reads.delete(read);
    return read;
  }

  #rejectWaiters(error: unknown): void {
    for (let next = this.#next(); next; next = this.#next()) next.reject(error);
  }

  /** Opens as many connections as there are waiting queries, if the pool has so many closed ones. */
  #grow(): void {
    if (this.#isClosed) return;
    let opening = this.#slots.filter(({ isOpening }) => isOpening).length;
    const now = performance.now();
    for (const slot of this.#slots) {
      if (this.#waiting <= opening) return;
      const isClosed = slot.client === null && !slot.isOpening && slot.pending === 0;
      if (!isClosed || (slot.retryAt > now && !this.#isUnusable())) continue;
      void this.#open(slot);
      opening++;
    }
  }

  /** Whether another connection is being opened, or can be opened now: the server refused none of late. */
  #canGrow(): boolean {
    const now = performance.now();
    return this.#slots.some(
      ({ ready, isOpening, retryAt }) => ready === null && (isOpening || retryAt <= now),
    );
  }

  /** Whether no connection is open or being opened. */
  #isUnusable(): boolean {
    return this.#slots.every(({ ready, isOpening }) => ready === null && !isOpening);
  }

  async #open(slot: Slot): Promise<void> {
    slot.isOpening = true;
    try {
      await this.#connect(slot);
      slot.retryAt = 0;
    } catch (error) {
      slot.retryAt = performance.now() + RETRY_PAUSE_MS;
      slot.isOpening = false;
      // The server can refuse additional connections while the existing connections still work.
      if (!slot.isRetired && this.#isUnusable()) this.#rejectWaiters(error);
    }
    slot.isOpening = false;
    this.#serve();
  }

  async #connect(slot: Slot): Promise<void> {
    const { preparedStatements, maxLifeMs = MIN_LIFE_MS + LIFE_RANGE_MS * Math.random() } = this.#options;
    for (;;) {
      if (this.#isClosed) throw unavailable(CLOSED_REASON);
      const { mode } = preparedStatements;
      let timer: Timer | undefined;
      const expire = () => {
        if (slot.client !== sql) return;
        if (slot.pending > 0) slot.isExpired = true;
        else this.#discard(slot);
      };
      const onclose = () => {
        clearTimeout(timer);
        // Without this call, the client would open another connection for the next query.
        void sql.close({ timeout: 0 });
        if (slot.client === sql) slot.client = slot.ready = null;
      };
      const { sql, begin } = connect({ ...this.#options, max: 1, prepare: mode !== "false", onclose });
      slot.client = sql;
      const { isDirect } = await begin();
      if (mode === "auto" && !isDirect) this.#stopPreparing();
      if (slot.client !== sql) throw unavailable(CLOSED_REASON);
      if (mode === preparedStatements.mode) {
        timer = setTimeout(expire, maxLifeMs).unref();
        slot.isExpired = false;
        slot.ready = sql;
        return;
      }
      await this.#release(slot);
    }
  }

  /**
   * Replaces even the connections that were proved to be direct, because this proof can be wrong: a pooler can start a session
   * with the parameters of one client, and later give this session to other clients.
   */
  #stopPreparing(): void {
    this.#options.preparedStatements.mode = "false";
    for (const slot of this.#slots) if (slot.ready !== null) this.#discard(slot);
  }

  #discard(slot: Slot): void {
    this.#release(slot).catch(() => undefined);
  }

  async #release(slot: Slot): Promise<void> {
    const { client } = slot;
    slot.client = slot.ready = null;
    await client?.close({ timeout: this.#options.deadlineMs / 1_000 });
  }
}
