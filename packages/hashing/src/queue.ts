/** A first-in first-out line whose members may leave from anywhere, each in constant time. */

interface Link<T> {
  readonly value: T;
  before: Link<T> | null;
  after: Link<T> | null;
}

/**
 *   first ⇄ link ⇄ link ⇄ last
 *
 * `#links` has exactly one link for each member; a value is in the line once at most.
 */
export class Queue<T> {
  readonly #links = new Map<T, Link<T>>();
  #first: Link<T> | null = null;
  #last: Link<T> | null = null;

  get size(): number {
    return this.#links.size;
  }

  /** Joins at the end. */
  push(value: T): void {
    const link: Link<T> = { value, before: this.#last, after: null };
    if (this.#last) this.#last.after = link;
    else this.#first = link;
    this.#last = link;
    this.#links.set(value, link);
  }

  /** Joins at the front: for one that had its turn before and lost it. */
  unshift(value: T): void {
    const link: Link<T> = { value, before: null, after: this.#first };
    if (this.#first) this.#first.before = link;
    else this.#last = link;
    this.#first = link;
    this.#links.set(value, link);
  }

  /** Takes the first out. */
  shift(): T | undefined {
    const value = this.#first?.value;
    if (value !== undefined) this.delete(value);
    return value;
  }

  /** Takes this one out; false if it is not in the line. */
  delete(value: T): boolean {
    const link = this.#links.get(value);
    if (!link) return false;
    if (link.before) link.before.after = link.after;
    else this.#first = link.after;
    if (link.after) link.after.before = link.before;
    else this.#last = link.before;
    return this.#links.delete(value);
  }
}
