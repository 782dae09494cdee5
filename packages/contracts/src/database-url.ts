/** Parses the URL of a database. No error message contains the URL, because the URL can contain a password. */
import { decodePercent } from "./text.ts";

/** The URL is invalid, or its scheme is not supported. */
export class UnsupportedDatabaseUrl extends Error {
  override readonly name = "UnsupportedDatabaseUrl";
  readonly code = "UNSUPPORTED_DATABASE_URL";

  /** @param problem a sentence about the URL, without text of the URL */
  constructor(readonly problem: string) {
    super(`Unsupported database URL: ${problem}`);
  }
}

/** Contains all options of the PostgreSQL client, because the client would read a missing option from environment variables. */
export type PostgresAddress = Readonly<ReturnType<typeof parsePostgresUrl>>;

/** The path can be relative. */
export type DatabaseLocation = { readonly path: string } | { readonly address: PostgresAddress };

const FILE_URL = /^file:(?:\/\/(?:localhost)?(?=\/))?([^?#]+)$/;
const DEFAULT_PORT = 5432;
/** Other clients use the operating system's user by default. That user differs between containers. */
const DEFAULT_USERNAME = "postgres";

/** @throws UnsupportedDatabaseUrl */
export function parseDatabaseUrl(url: string): DatabaseLocation {
  if (url.startsWith("file:")) return { path: parseFileUrl(url) };
  if (/^postgres(ql)?:/.test(url)) return { address: parsePostgresUrl(url) };
  throw new UnsupportedDatabaseUrl("it must start with file:, postgres:// or postgresql://.");
}

/** The path of a file URL (RFC 8089). */
function parseFileUrl(url: string): string {
  const path = FILE_URL.exec(url)?.[1];
  if (path === undefined || path.startsWith("//") || path === ":memory:") {
    throw new UnsupportedDatabaseUrl("a file: URL must be file:relative/path or file:///absolute/path.");
  }
  return decode(path);
}

/** The parts of a connection URI (PostgreSQL documentation, 32.1.1.2). @throws UnsupportedDatabaseUrl */
export function parsePostgresUrl(url: string) {
  const parsed = URL.parse(url);
  if (parsed === null)
    throw new UnsupportedDatabaseUrl("it is not a valid URL; special characters must be percent-encoded.");
  if (parsed.hostname === "") throw new UnsupportedDatabaseUrl("it has no host.");
  const [, database, ...rest] = parsed.pathname.split("/");
  if (database === undefined || database === "" || rest.length > 0) {
    throw new UnsupportedDatabaseUrl("its path must be the name of one database.");
  }
  return {
    /** The client reads the parameters of the query string, such as `sslmode`, from this URL. */
    url,
    hostname: parsed.hostname.replace(/^\[|\]$/g, ""),
    port: parsed.port === "" ? DEFAULT_PORT : Number(parsed.port),
    username: decode(parsed.username) || DEFAULT_USERNAME,
    password: decode(parsed.password),
    database: decode(database),
  };
}

function decode(text: string): string {
  const decoded = decodePercent(text);
  if (decoded === null) throw new UnsupportedDatabaseUrl("it contains an invalid percent-encoding.");
  return decoded;
}
