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

/** The parameters of a connection URI. Those for TLS, `options` and `channel_binding` are read by the client, from the URL. */
const PARAMETERS = [
  "sslmode",
  "sslrootcert",
  "sslcert",
  "sslkey",
  "sslpassword",
  "channel_binding",
  "host",
  // The client's own name for a socket, which release 1.0.0 accepted.
  "path",
  "port",
  "password",
  "application_name",
  "options",
];

/** The URL class rejects a user without a host, which is common with `?host=/folder`. */
const withHost = (url: string): string =>
  url.replace(/^(postgres(?:ql)?:\/\/[^/?#]*@)(?=[:/])/, "$1localhost");

/** The query of a connection URI; empty if the URI is not a valid URL. */
export const postgresParameters = (url: string): URLSearchParams =>
  URL.parse(withHost(url))?.searchParams ?? new URLSearchParams();

/** The parts of a connection URI (PostgreSQL documentation, 32.1.1.2). @throws UnsupportedDatabaseUrl */
export function parsePostgresUrl(url: string) {
  const parsed = URL.parse(withHost(url));
  if (parsed === null)
    throw new UnsupportedDatabaseUrl("it is not a valid URL; special characters must be percent-encoded.");
  const parameters = parsed.searchParams;
  const [, database, ...rest] = parsed.pathname.split("/");
  if (database === undefined || database === "" || rest.length > 0) {
    throw new UnsupportedDatabaseUrl("its path must be the name of one database.");
  }
  checkParameters(parsed);
  const socket = parameters.get("host") ?? parameters.get("path");
  if (socket !== null && !socket.startsWith("/"))
    throw new UnsupportedDatabaseUrl("its parameter host must be the absolute path of a socket's folder.");
  const hostname = socket ?? decode(parsed.hostname.replace(/^\[|\]$/g, ""));
  if (hostname === "") throw new UnsupportedDatabaseUrl("it has no host.");
  const applicationName = parameters.get("application_name");
  return {
    /** The client reads the parameters of the query string, such as `sslmode`, from this URL. */
    url,
    /** A socket's folder if it begins with a slash. */
    hostname,
    port: parsePort(parameters.get("port") ?? parsed.port),
    username: decode(parsed.username) || DEFAULT_USERNAME,
    password: decode(parsed.password) || (parameters.get("password") ?? ""),
    database: decode(database),
    ...(applicationName && { applicationName }),
  };
}

/** An unknown parameter of another client would be ignored, or rejected by the server. */
function checkParameters({ pathname, search, searchParams, hash }: URL): void {
  const names = [...searchParams.keys()];
  const wrong = names.filter((name, index) => !PARAMETERS.includes(name) || names.indexOf(name) !== index);
  if (wrong.length === 0) return;
  // An "@" after the host shows that the names are parts of a password with a "?" or "/".
  const isPrintable = !/@/.test(pathname + search + hash) && wrong.every((name) => /^\w{1,40}$/.test(name));
  throw new UnsupportedDatabaseUrl(
    `it has unsupported or repeated parameters${isPrintable ? `: ${wrong.join(", ")}` : ""}. Supported are ${PARAMETERS.join(", ")}.`,
  );
}

function parsePort(text: string): number {
  const port = text === "" ? DEFAULT_PORT : Number(text);
  if (/^\d*$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw new UnsupportedDatabaseUrl("its port is not a number from 1 to 65535.");
}

function decode(text: string): string {
  const decoded = decodePercent(text);
  if (decoded === null) throw new UnsupportedDatabaseUrl("it contains an invalid percent-encoding.");
  return decoded;
}
