/** The todos that the service has acknowledged, to be compared with the stored ones. Todos whose last write failed are not compared. */

export interface TodoContent {
  readonly title: string;
  readonly completed: boolean;
}

export interface AcknowledgedTodos {
  /** Records a response that contained this todo. */
  set(id: number, todo: TodoContent): void;
  /** Records an acknowledged deletion. */
  delete(id: number): void;
  /** Removes and returns a todo, so that only one write to it is in progress. If the write fails, its state is unknown. */
  checkOut(): number | undefined;
  /** Number of acknowledged writes. */
  readonly writes: number;
  /** Returns a sentence for each difference to `stored`, all todos of the service. */
  differences(stored: ReadonlyMap<number, TodoContent>): string[];
}

export function createAcknowledgedTodos(): AcknowledgedTodos {
  const todos = new Map<number, TodoContent>();
  const deleted = new Set<number>();
  let writes = 0;
  return {
    set(id, todo) {
      writes += 1;
      todos.set(id, todo);
    },
    delete(id) {
      writes += 1;
      deleted.add(id);
    },
    checkOut() {
      const [id] = todos.keys();
      if (id !== undefined) todos.delete(id);
      return id;
    },
    get writes() {
      return writes;
    },
    differences(stored) {
      const lost = [...todos].flatMap(([id, todo]) => {
        const found = stored.get(id);
        if (!found) return [`todo ${id} is missing`];
        const isSame = found.title === todo.title && found.completed === todo.completed;
        return isSame ? [] : [`todo ${id} differs from what was acknowledged`];
      });
      const restored = [...deleted]
        .filter((id) => stored.has(id))
        .map((id) => `todo ${id} was deleted and exists`);
      return [...lost, ...restored];
    },
  };
}
