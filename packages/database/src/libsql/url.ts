/** Parses `file:` URLs and rejects every other form. */
import { resolve } from "node:path";
import { UnsupportedDatabaseUrl } from "../errors.ts";

const FILE_URL = /^file:(?:\/\/(?:localhost)?(?=\/))?([^?#]+)$/i;

/**
 * Returns the absolute path in a `file:` URL (RFC 8089); a relative path refers to `baseDirectory`.
 * @throws UnsupportedDatabaseUrl
 */
export function parseFileUrl(url: string, baseDirectory = "."): string {
  const path = FILE_URL.exec(url)?.[1];
  if (path === undefined || path.startsWith("//") || path === ":memory:") {
    throw new UnsupportedDatabaseUrl("a file: URL must be file:relative/path or file:///absolute/path.");
  }
  try {
    return resolve(baseDirectory, decodeURIComponent(path));
  } catch {
    throw new UnsupportedDatabaseUrl("its path contains an invalid percent-encoding.");
  }
}
