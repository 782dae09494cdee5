/** Finds variables that the service does not read, but whose name is similar to one that it reads. */
import type { Variable } from "./variable-kinds.ts";
import { VARIABLE_NAMES, VARIABLES } from "./variables.ts";

const NAMES: readonly string[] = VARIABLE_NAMES.flatMap((name) => {
  const { secret, file }: Variable<unknown> = VARIABLES[name];
  return secret || file ? [name, `${name}_FILE`] : [name];
});

/** Allows one change per six characters, and at most three changes. `HOME` is therefore not similar to `HOST`. */
const maxChanges = (name: string): number => Math.min(3, Math.floor(name.length / 6));

/** Returns one sentence for each misspelled name. */
export function describeUnknownVariables(names: readonly string[]): string[] {
  return names
    .filter((name) => !NAMES.includes(name))
    .flatMap((name) => {
      const letters = new Set(name);
      // The first two filters avoid most calls of `countChanges`: the number of changes is at least the difference in
      // length, and at least the number of letters of `known` that `name` lacks.
      const [nearest] = NAMES.filter((known) => Math.abs(known.length - name.length) <= maxChanges(known))
        .filter((known) => new Set(known).difference(letters).size <= maxChanges(known))
        .map((known) => ({ known, changes: countChanges(name, known) }))
        .filter(({ known, changes }) => changes <= maxChanges(known))
        .sort((a, b) => a.changes - b.changes);
      return nearest ? [`${name} is not a variable of the service; did you mean ${nearest.known}?`] : [];
    });
}

/** The Levenshtein distance: the number of characters to insert, remove or replace. */
function countChanges(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (const [row, character] of [...from].entries()) {
    const current = [row + 1];
    for (const [column, other] of [...to].entries()) {
      const replaced = (previous[column] ?? 0) + (character === other ? 0 : 1);
      current.push(Math.min(replaced, (previous[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1));
    }
    previous = current;
  }
  return previous.at(-1) ?? 0;
}
