import { ConfigurationError } from "../../src/parse.ts";

/** The lines of the error that `parse` throws; none if it succeeds. */
export function linesOf(parse: () => unknown): readonly string[] {
  try {
    parse();
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.lines;
    throw error;
  }
}
