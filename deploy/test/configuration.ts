/** Judges variables that a deployment sets by the service's own reader of its configuration. */
import { ConfigurationError, parseConfig } from "../../apps/gateway/src/config/config.ts";
import { Environment, SECRET_VARIABLES } from "../../apps/gateway/src/config/environment.ts";

export type Variables = Readonly<Record<string, string>>;

const NAMES: ReadonlySet<string> = new Set([
  ...Object.keys(Environment.properties),
  ...SECRET_VARIABLES.map((name) => `${name}_FILE`),
]);

/** Good enough for production, and of no use anywhere. */
export const SECRET = "0f8d2a6b4c1e9753a1b2c3d4e5f60718";
export const DATABASE_URL = `postgres://latchkey:${SECRET}@postgres.example.internal:5432/latchkey`;

/** Names that the configuration does not know. */
export const unknownNames = (variables: Variables): string[] =>
  Object.keys(variables).filter((name) => !NAMES.has(name));

/** What the service would refuse to start with. */
export function faultsOf(variables: Variables): readonly string[] {
  try {
    parseConfig(variables, { kernels: [], isTerminal: false, readFile: () => SECRET });
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.faults;
    throw error;
  }
}

/** Seconds from SIGTERM until the service has ended by itself, at the latest. */
export function shutdownSeconds(variables: Variables): number {
  const { shutdown } = parseConfig(variables, { kernels: [], isTerminal: false, readFile: () => SECRET });
  return shutdown.delaySeconds + shutdown.graceSeconds;
}
