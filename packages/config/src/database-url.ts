/** The variable `DATABASE_URL`: checks the URL and its TLS parameters, and detects connections without encryption. */
import { parseDatabaseUrl, postgresParameters, UnsupportedDatabaseUrl } from "@latchkey/contracts";
import { leavesMachine } from "./network.ts";
import { InvalidValue, invalid, type Kind } from "./variable-kinds.ts";

/** Modes that the PostgreSQL client implements. `allow` and `prefer` fall back to an unencrypted connection. */
const SSL_MODES = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"];
const SSL_FILES = ["sslrootcert", "sslcert", "sslkey"];

export const databaseUrl: Kind<string> = {
  accepted: "file:PATH, postgres://… or postgresql://…",
  parse: (text, readFile) => {
    if (text === "") return invalid();
    const parameters = text.startsWith("postgres") ? postgresParameters(text) : new URLSearchParams();
    // The client accepts these aliases of `sslmode`. Two parameters with one meaning can contradict each other.
    for (const alias of ["ssl", "tls"])
      if (parameters.has(alias)) invalid(`sets ${alias}; set sslmode instead`);
    const modes = parameters.getAll("sslmode");
    if (modes.length > 1 || !modes.every((mode) => SSL_MODES.includes(mode)))
      throw new InvalidValue("contains an unsupported or repeated sslmode", {
        accepted: `one of sslmode=${SSL_MODES.join(", ")}`,
      });
    if (!isPostgresUrl(text)) return text;
    for (const name of SSL_FILES) {
      const path = parameters.get(name);
      try {
        if (path !== null) readFile(path);
      } catch {
        invalid(`names a file as ${name} that cannot be read`);
      }
    }
    return text;
  },
};

/** @throws {InvalidValue} */
function isPostgresUrl(url: string): boolean {
  try {
    return "address" in parseDatabaseUrl(url);
  } catch (error) {
    if (!(error instanceof UnsupportedDatabaseUrl)) throw error;
    return invalid(`is not supported: ${error.problem.replace(/\.$/, "")}`);
  }
}

/**
 * Whether others can read the password or the data on the way to another host. A Unix socket does not lead to another host.
 * `allow` and `prefer` fall back to plaintext. A CA file raises every mode to `verify-full`.
 */
export function isUnencrypted(url: string): boolean {
  const location = parseDatabaseUrl(url);
  if ("path" in location || location.address.hostname.startsWith("/")) return false;
  const parameters = postgresParameters(url);
  if (parameters.has("sslrootcert")) return false;
  return leavesMachine(url) && !/^(require|verify-ca|verify-full)$/.test(parameters.get("sslmode") ?? "");
}
