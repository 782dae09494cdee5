/** Parses variables, with files that exist only here. */
import { ConfigurationError, type ParseOptions, parseEnvironment, type Variables } from "../../src/parse.ts";

interface TestOptions extends Omit<ParseOptions, "readFile"> {
  /** The text of each file; null: access is denied. @default none exists */
  readonly files?: Readonly<Record<string, string | null>>;
}

export const parse = (variables: Variables, { files = {}, ...options }: TestOptions = {}) =>
  parseEnvironment(variables, {
    readFile(path) {
      const text = files[path];
      if (text != null) return text;
      throw Object.assign(new Error(), { code: text === null ? "EACCES" : "ENOENT" });
    },
    ...options,
  });

/** The lines of the error of a configuration; none if it is valid. */
export function errorsOf(...configuration: Parameters<typeof parse>): readonly string[] {
  try {
    parse(...configuration);
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.lines;
    throw error;
  }
}
