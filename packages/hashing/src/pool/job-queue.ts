/**
 * A double-ended queue from which any job can be removed. It keeps the sum of its jobs' iterations. Every operation takes
 * amortized constant time. A job is in the queue at most once.
 */
export class JobQueue<J extends { readonly iterations: number }> {
  /** The jobs by position, from `#first` to `#end - 1`. Removed jobs leave gaps, but never at these two positions. */
  readonly #jobs = new Map<number, J>();
  /** The inverse of `#jobs`. */
  readonly #positions = new Map<J, number>();
  #first = 0;
  #end = 0;
  /** The sum over all jobs. Read-only outside this class. */
  iterations = 0;

  push(job: J): void {
    this.#insert(this.#end++, job);
  }

  /** Adds a job at the front. This job was taken before and has to run again. */
  unshift(job: J): void {
    this.#insert(--this.#first, job);
  }

  /** Removes and returns the first or the last job. */
  take(end: "first" | "last"): J | undefined {
    const job = this.#jobs.get(end === "first" ? this.#first : this.#end - 1);
    if (job) this.delete(job);
    return job;
  }

  /** Iterates from the first to the last job. Jobs can be removed during the iteration. */
  *[Symbol.iterator](): Generator<J> {
    for (let position = this.#first; position < this.#end; position++) {
      const job = this.#jobs.get(position);
      if (job) yield job;
    }
  }

  /** Has no effect if the job is not in the queue. */
  delete(job: J): void {
    const position = this.#positions.get(job);
    if (position === undefined) return;
    this.#jobs.delete(position);
    this.#positions.delete(job);
    this.iterations -= job.iterations;
    while (this.#first < this.#end && !this.#jobs.has(this.#first)) this.#first++;
    while (this.#first < this.#end && !this.#jobs.has(this.#end - 1)) this.#end--;
  }

  #insert(position: number, job: J): void {
    this.#jobs.set(position, job);
    this.#positions.set(job, position);
    this.iterations += job.iterations;
  }
}
