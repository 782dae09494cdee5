/**
 * A queue with two ends from which any value can be removed; every operation takes amortized constant time. A value is in
 * the queue at most once.
 */
export class Queue<T> {
  /** Keys are positions from `#first` up to, but excluding, `#end`; a removed value leaves a gap, which is skipped. */
  readonly #values = new Map<number, T>();
  /** The inverse of `#values`. */
  readonly #positions = new Map<T, number>();
  #first = 0;
  #end = 0;

  get size(): number {
    return this.#values.size;
  }

  push(value: T): void {
    this.#insert(this.#end++, value);
  }

  /** Adds a value at the front: for one that was shifted before and has to be processed again. */
  unshift(value: T): void {
    this.#insert(--this.#first, value);
  }

  /** Removes and returns the first value. */
  shift(): T | undefined {
    return this.#remove(() => this.#first++);
  }

  /** Removes and returns the last value. */
  pop(): T | undefined {
    return this.#remove(() => --this.#end);
  }

  /** Returns false if the value is not in the queue. */
  delete(value: T): boolean {
    const position = this.#positions.get(value);
    if (position === undefined) return false;
    this.#values.delete(position);
    return this.#positions.delete(value);
  }

  #insert(position: number, value: T): void {
    this.#values.set(position, value);
    this.#positions.set(value, position);
  }

  #remove(nextPosition: () => number): T | undefined {
    while (this.#first < this.#end) {
      const value = this.#values.get(nextPosition());
      if (value !== undefined && this.delete(value)) return value;
    }
    return undefined;
  }
}
