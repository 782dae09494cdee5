/** Reads a `postgres:` URL into the client's options, all of them, so that no environment variable fills a gap. */

import { UnsupportedDatabaseUrl } from "../errors.ts";

export interface Address {
  readonly url: string;
  readonly hostname: string;
  readonly port: number;
  readonly username: string;
  readonly password: string;
  readonly database: string;
}

const defaultPort = 5432;
/** As servers are set up. The name of the operating system's user, which other clients take, is another one in a container. */
const defaultUsername = "postgres";

/**
 * The parts of a connection URI (PostgreSQL, 32.1.1.2); its query, `sslmode` for one, is left to the client.
 * @throws UnsupportedDatabaseUrl
 */
export function parsePostgresUrl(url: string): Address {
  const parsed = URL.parse(url);
  if (parsed === null)
    throw new UnsupportedDatabaseUrl("it cannot be read; are special characters percent-encoded?");
  if (parsed.hostname === "") throw new UnsupportedDatabaseUrl("it names no host.");
  const [, database, ...rest] = parsed.pathname.split("/");
  if (database === undefined || database === "" || rest.length > 0) {
    throw new UnsupportedDatabaseUrl("its path must be the name of one database.");
  }
  try {
    return {
      url,
      hostname: parsed.hostname.replace(/^\[|\]$/g, ""),
      port: parsed.port === "" ? defaultPort : Number(parsed.port),
      username: decodeURIComponent(parsed.username) || defaultUsername,
      password: decodeURIComponent(parsed.password),
      database: decodeURIComponent(database),
    };
  } catch {
    throw new UnsupportedDatabaseUrl("it holds a percent sign that encodes nothing.");
  }
}
