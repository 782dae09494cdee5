/**
 * Waiting entries of clients that take turns. Those without a client, of the service itself, are few, and precede all others. Invariant:
 * the map has the clients with entries, in the order of their turns.
 */
export class Turns<Entry> {
  readonly #queues = new Map<string | undefined, Set<Entry>>();
  #size = 0;

  /** The number of entries. */
  get size(): number {
    return this.#size;
  }

  add(client: string | undefined, entry: Entry): void {
    this.#queues.set(client, (this.#queues.get(client) ?? new Set()).add(entry));
    this.#size += 1;
  }

  /** Does nothing if the entry was removed before. */
  delete(client: string | undefined, entry: Entry): void {
    const entries = this.#queues.get(client);
    if (!entries?.delete(entry)) return;
    this.#size -= 1;
    if (entries.size === 0) this.#queues.delete(client);
  }

  /** Removes the oldest entry of the client whose turn it is. */
  take(): Entry | undefined {
    const client = this.#queues.has(undefined) ? undefined : this.#queues.keys().next().value;
    const entries = this.#queues.get(client);
    if (!entries) return undefined;
    // The client becomes the last one.
    this.#queues.delete(client);
    this.#queues.set(client, entries);
    return this.#removeOldest(client, entries);
  }

  /** Removes the oldest entry of the client with the most. */
  removeFromLongest(): void {
    let longest: readonly [string | undefined, Set<Entry>] | undefined;
    for (const queue of this.#queues) if (!longest || queue[1].size >= longest[1].size) longest = queue;
    if (longest) this.#removeOldest(...longest);
  }

  #removeOldest(client: string | undefined, entries: ReadonlySet<Entry>): Entry | undefined {
    const [oldest] = entries;
    if (oldest !== undefined) this.delete(client, oldest);
    return oldest;
  }
}
