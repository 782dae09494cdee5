/** Parses a `postgres:` URL into all of the client's options, so that the client reads none from environment variables. */
import { UnsupportedDatabaseUrl } from "../errors.ts";

export interface Address {
  readonly url: string;
  readonly hostname: string;
  readonly port: number;
  readonly username: string;
  readonly password: string;
  readonly database: string;
}

const DEFAULT_PORT = 5432;
/** Other clients default to the operating system's user, which differs between containers. */
const DEFAULT_USERNAME = "postgres";

/**
 * Returns the parts of a connection URI (PostgreSQL, 32.1.1.2); the client parses the query string, such as `sslmode`.
 * @throws UnsupportedDatabaseUrl
 */
export function parsePostgresUrl(url: string): Address {
  const parsed = URL.parse(url);
  if (parsed === null)
    throw new UnsupportedDatabaseUrl("it is not a valid URL; special characters must be percent-encoded.");
  if (parsed.hostname === "") throw new UnsupportedDatabaseUrl("it has no host.");
  const [, database, ...rest] = parsed.pathname.split("/");
  if (database === undefined || database === "" || rest.length > 0) {
    throw new UnsupportedDatabaseUrl("its path must be the name of one database.");
  }
  try {
    return {
      url,
      hostname: parsed.hostname.replace(/^\[|\]$/g, ""),
      port: parsed.port === "" ? DEFAULT_PORT : Number(parsed.port),
      username: decodeURIComponent(parsed.username) || DEFAULT_USERNAME,
      password: decodeURIComponent(parsed.password),
      database: decodeURIComponent(database),
    };
  } catch {
    throw new UnsupportedDatabaseUrl("it contains an invalid percent-encoding.");
  }
}
