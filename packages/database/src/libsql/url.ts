/** Reads a `file:` URL strictly: what it does not understand, it does not guess. */

import { resolve } from "node:path";
import { UnsupportedDatabaseUrl } from "../errors.ts";

const fileUrl = /^file:(?:\/\/(?:localhost)?(?=\/))?([^?#]+)$/i;

/**
 * The absolute path in a `file:` URL (RFC 8089); a relative one starts at `baseDirectory`.
 * @throws UnsupportedDatabaseUrl
 */
export function parseFileUrl(url: string, baseDirectory = "."): string {
  const path = fileUrl.exec(url)?.[1];
  if (path === undefined || path.startsWith("//") || path === ":memory:") {
    throw new UnsupportedDatabaseUrl(
      "a file: URL is file:relative/path or file:///absolute/path, nothing else.",
    );
  }
  try {
    return resolve(baseDirectory, decodeURIComponent(path));
  } catch {
    throw new UnsupportedDatabaseUrl("its path holds a percent sign that encodes nothing.");
  }
}
