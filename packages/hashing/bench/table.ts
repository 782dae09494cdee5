/** Printing: rows of figures with every round beside their median. */

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

export function print(line = ""): void {
  process.stdout.write(`${line}\n`);
}

export interface Row {
  readonly name: string;
  readonly unit: string;
  readonly rounds: readonly number[];
  /** What the figure is set against. */
  readonly against?: { readonly name: string; readonly rounds: readonly number[] };
}

/** `against` compares round by round, since only neighbours in time saw the same machine. */
export function printRow({ name, unit, rounds, against }: Row): void {
  const figures = `${median(rounds).toFixed(1).padStart(7)} ${unit} (${rounds.map((x) => x.toFixed(1)).join(" ")})`;
  const ratio =
    against && median(rounds.map((value, round) => value / (against.rounds[round] ?? Number.NaN)));
  print(`  ${name.padEnd(26)} ${figures}${against ? `  ${ratio?.toFixed(2)} × ${against.name}` : ""}`);
}
