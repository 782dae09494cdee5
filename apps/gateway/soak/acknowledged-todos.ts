/** The todos that the service has acknowledged, to be compared with the stored ones. Todos whose last write failed are not compared. */

export interface TodoContent {
  readonly title: string;
  readonly completed: boolean;
}

export class AcknowledgedTodos {
  readonly #todos = new Map<number, TodoContent>();
  readonly #deleted = new Set<number>();
  /** Number of acknowledged writes. */
  writes = 0;

  /** Records a response that contained this todo. */
  set(id: number, todo: TodoContent): void {
    this.writes += 1;
    this.#todos.set(id, todo);
  }

  /** Records an acknowledged deletion. */
  delete(id: number): void {
    this.writes += 1;
    this.#deleted.add(id);
  }

  /** Removes and returns a todo, so that only one write to it is in progress. If the write fails, its state is unknown. */
  checkOut(): number | undefined {
    const [id] = this.#todos.keys();
    if (id !== undefined) this.#todos.delete(id);
    return id;
  }

  /** Returns a sentence for each difference to `stored`, all todos of the service. */
  differences(stored: ReadonlyMap<number, TodoContent>): string[] {
    const lost = [...this.#todos].flatMap(([id, todo]) => {
      const found = stored.get(id);
      if (!found) return [`todo ${id} is missing`];
      const isSame = found.title === todo.title && found.completed === todo.completed;
      return isSame ? [] : [`todo ${id} differs from what was acknowledged`];
    });
    const restored = [...this.#deleted].filter((id) => stored.has(id));
    return [...lost, ...restored.map((id) => `todo ${id} was deleted and exists`)];
  }
}
