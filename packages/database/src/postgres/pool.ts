/**
 * The connections of a process. Invariant: in the mode `auto`, only connections that were proved to be direct use named
 * statements, because a pooler can run another client's statement of the same name. Bun's own pool can reconnect at any time
 * without such a proof. Therefore, each connection has its own client, which is closed together with the connection.
 */
import type { SQL } from "bun";
import { type ConnectOptions, connect, type PreparedStatements } from "./connection.ts";
import { CLOSED_REASON, unavailable } from "./errors.ts";

export interface ConnectionPoolOptions extends ConnectOptions {
  /** Maximum number of connections. */
  readonly size: number;
  readonly preparedStatements: PreparedStatements;
}

/** The place of one connection in the pool. */
interface Slot {
  /** Number of queries that use or await the connection. */
  pending: number;
  /** Set after a failed attempt to open the connection. Until this time, queries use other slots if possible. */
  retryAt: number;
  /** The client of a connection that is open or being opened, otherwise null. */
  client: SQL | null;
  opening: Promise<void> | null;
  /** Equal to `client` while queries can use the connection, otherwise null. */
  ready: SQL | null;
}

/** Minimum time between two attempts to open an additional connection. */
const RETRY_PAUSE_MS = 1_000;

const createSlot = (): Slot => ({ pending: 0, retryAt: 0, client: null, opening: null, ready: null });

export class ConnectionPool {
  readonly #options: ConnectionPoolOptions;
  readonly #slots: readonly [Slot, ...Slot[]];
  #isClosed = false;

  constructor(options: ConnectionPoolOptions) {
    this.#options = options;
    this.#slots = [createSlot(), ...Array.from({ length: options.size - 1 }, createSlot)];
  }

  /** Runs a query on the least busy connection. Opens another connection if all open connections are busy. */
  async run<T>(query: (client: SQL) => Promise<T>): Promise<T> {
    const slot = this.#leastBusy();
    slot.pending++;
    try {
      if (slot.ready === null) {
        slot.opening ??= this.#open(slot);
        try {
          await slot.opening;
        } catch (error) {
          // Throws only if no other connection is usable. The server can refuse additional connections while the existing
          // connections still work.
          if (this.#slots.every(({ ready }) => ready === null)) throw error;
        }
      }
      return await (slot.ready === null ? this.run(query) : query(slot.ready));
    } finally {
      slot.pending--;
    }
  }

  /** Closes all connections. Running queries can finish within `deadlineMs`. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#slots.map((slot) => this.#release(slot)));
  }

  #leastBusy(): Slot {
    const now = performance.now();
    let [best] = this.#slots;
    let least = Number.POSITIVE_INFINITY;
    for (const slot of this.#slots) {
      if (slot.pending >= least || slot.retryAt > now) continue;
      best = slot;
      least = slot.pending;
      if (least === 0) break;
    }
    return best;
  }

  async #open(slot: Slot): Promise<void> {
    const { preparedStatements } = this.#options;
    try {
      for (;;) {
        if (this.#isClosed) throw unavailable(CLOSED_REASON);
        const { mode } = preparedStatements;
        const onclose = () => {
          // Without this call, the client would open another connection for the next query.
          void sql.close({ timeout: 0 });
          if (slot.client === sql) slot.client = slot.ready = null;
        };
        const { sql, isDirect } = connect({ ...this.#options, max: 1, prepare: mode !== "false", onclose });
        slot.client = sql;
        if (mode !== "auto") await sql.connect();
        else if (!(await isDirect())) this.#stopPreparing();
        if (slot.client !== sql) throw unavailable(CLOSED_REASON);
        if (mode === preparedStatements.mode) {
          slot.retryAt = 0;
          slot.ready = sql;
          return;
        }
        await this.#release(slot);
      }
    } catch (error) {
      slot.retryAt = performance.now() + RETRY_PAUSE_MS;
      throw error;
    } finally {
      slot.opening = null;
    }
  }

  /**
   * Replaces even the connections that were proved to be direct, because this proof can be wrong: a pooler can start a session
   * with the parameters of one client, and later give this session to other clients.
   */
  #stopPreparing(): void {
    this.#options.preparedStatements.mode = "false";
    for (const slot of this.#slots) if (slot.ready !== null) void this.#release(slot);
  }

  async #release(slot: Slot): Promise<void> {
    const { client } = slot;
    slot.client = slot.ready = null;
    await client?.close({ timeout: this.#options.deadlineMs / 1_000 });
  }
}
