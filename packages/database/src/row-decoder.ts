/** Converts the rows of a select query that Drizzle built, in one pass. Its own mapping costs three times as much. */

/** A select query of Drizzle with one column for each field of its rows. */
export interface Select<Row> {
  toSQL(): { readonly sql: string; readonly params: unknown[] };
  readonly _: { readonly selectedFields: object; readonly result: Row[] };
}

/** The member of Drizzle's columns that converts a value of the driver; other expressions do not have it. */
interface Decoder {
  mapFromDriverValue(value: unknown): unknown;
}

/** Returns the function that converts the values of a row, in the order of the selected fields, to an object. */
export function createRowDecoder<Row>(selectedFields: object): (values: readonly unknown[]) => Row {
  const columns = Object.entries(selectedFields).map(([key, field]) => ({
    key,
    decode: isDecoder(field)
      ? (value: unknown) => field.mapFromDriverValue(value)
      : (value: unknown) => value,
  }));
  return (values) => {
    const row: Record<string, unknown> = {};
    let index = 0;
    for (const { key, decode } of columns) {
      const value = values[index++];
      row[key] = value === null ? null : decode(value);
    }
    return asRow(row);
  };
}

/** Returns the row of a statement that returns exactly one row on success, such as an INSERT of one row. */
export function singleRow<T>([row]: readonly T[]): T {
  if (row === undefined)
    throw new Error("The statement returned no row. Does a trigger suppress the INSERT?");
  return row;
}

const isDecoder = (field: unknown): field is Decoder =>
  typeof field === "object" && field !== null && "mapFromDriverValue" in field;

/** Safe because the members and their types are those of the query's selected fields. */
function asRow<Row>(row: Record<string, unknown>): Row {
  return row as Row;
}
