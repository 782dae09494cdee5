/**
 * The reading connection. Each query returns all rows as one JSON text, because converting each value separately takes twice
 * as long. Invariants: a statement is reset when its only row is read, so no snapshot stays open. After a lock conflict, a new
 * connection is used, because the driver leaves the failed statement unfinished.
 */
import { Column, fillPlaceholders, is } from "drizzle-orm";
import { DatabaseUnavailable } from "../errors.ts";
import { createRowDecoder, type Select } from "../row-decoder.ts";
import { type Connection, connect } from "./connection.ts";
import { isLockConflict } from "./errors.ts";

export interface Reader {
  /** Builds the query once. Returns a function that runs the query with the values of the placeholders, or throws. */
  prepare<Row>(query: Select<Row>): (values?: Record<string, unknown>) => Row[];
  close(): void;
}

/**
 * Returns a query that selects all rows as one JSON array of arrays. Each value is cast to the type of its column, because
 * SQLite can store a blob in any column, and JSON cannot contain a blob. The JSON text is returned as a blob, because the
 * driver ends the process if a text is not valid UTF-8.
 */
function toJsonQuery(sql: string, fields: readonly unknown[]): string {
  const names = fields.map((_, index) => `c${index}`);
  const values = fields.map((field, index) =>
    is(field, Column) ? `cast(c${index} as ${field.getSQLType()})` : `c${index}`,
  );
  return `with selected(${names}) as (${sql}) select cast(json_group_array(json_array(${values})) as blob) from selected`;
}

/** Builds the query. Returns a function that runs the query on a connection with the values of the placeholders. */
export function compile<Row>(query: Select<Row>) {
  const { sql, params } = query.toSQL();
  const { selectedFields } = query._;
  const jsonQuery = toJsonQuery(sql, Object.values(selectedFields));
  const decode = createRowDecoder<Row>(selectedFields);
  return ({ prepare }: Connection, values: Record<string, unknown> = {}): Row[] =>
    parseRows(prepare(jsonQuery).get(fillPlaceholders(params, values))).map(decode);
}

/** A lock conflict occurs only while another process recovers the file. The query after the conflict uses a new connection. */
export function openReader(path: string): Reader {
  let connection: Connection | null = connect(path);
  let isClosed = false;

  const disconnect = () => {
    connection?.close();
    connection = null;
  };

  return {
    prepare: <Row>(query: Select<Row>) => {
      const run = compile(query);
      return (values) => {
        if (isClosed) throw new DatabaseUnavailable("CLIENT_CLOSED");
        connection ??= connect(path);
        try {
          return run(connection, values);
        } catch (error) {
          if (isLockConflict(error)) disconnect();
          throw error;
        }
      };
    },
    close: () => {
      isClosed = true;
      disconnect();
    },
  };
}

/** The cast is safe because the query of `toJsonQuery` returns one row with one blob. */
function parseRows(row: unknown): readonly unknown[][] {
  const [json] = row as [Buffer];
  return JSON.parse(json.toString());
}
