/** Checks the variables of a deployment by the service's definitions. */
import { ConfigurationError, parseEnvironment, VARIABLE_NAMES, VARIABLES } from "@latchkey/config";

export type Variables = Readonly<Record<string, string>>;

const NAMES: ReadonlySet<string> = new Set(
  VARIABLE_NAMES.flatMap((name) => ("secret" in VARIABLES[name] ? [name, `${name}_FILE`] : [name])),
);

/** Strong enough for production, and used nowhere else. */
export const SECRET = "0f8d2a6b4c1e9753a1b2c3d4e5f60718";
export const DATABASE_URL = `postgres://latchkey:${SECRET}@postgres.example.internal:5432/latchkey`;

/** Names that are not defined. */
export const unknownNames = (variables: Variables): string[] =>
  Object.keys(variables).filter((name) => !NAMES.has(name));

const parse = (variables: Variables) => parseEnvironment(variables, { readFile: () => SECRET });

/** One line per error that would prevent the start of the service. */
export function configurationErrors(variables: Variables): readonly string[] {
  try {
    parse(variables);
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.lines;
    throw error;
  }
}

/** The longest time from SIGTERM to the exit of the service, in seconds. */
export function shutdownSeconds(variables: Variables): number {
  const { SHUTDOWN_DELAY_SECONDS, SHUTDOWN_GRACE_SECONDS } = parse(variables).values;
  return SHUTDOWN_DELAY_SECONDS + SHUTDOWN_GRACE_SECONDS;
}
