/** Checks the variables of a deployment with the service itself: each check is one `--check-config` process. */
import { EXIT } from "@latchkey/cli";
import { GATEWAY_MAIN } from "@latchkey/testing/repository";

export type Variables = Readonly<Record<string, string>>;

/** Strong enough for production, and used nowhere else. */
export const SECRET = "0f8d2a6b4c1e9753a1b2c3d4e5f60718";

/** `errors` and `warnings` have one line each; with errors, there are no warnings and no effective `values` by name. */
export function checkConfiguration(variables: Variables) {
  const check = Bun.spawnSync([process.execPath, GATEWAY_MAIN, "--check-config"], { env: variables });
  const messages = linesOf(check.stderr);
  if (check.exitCode === EXIT.config)
    return { errors: messages, warnings: [], values: new Map<string, string>() };
  if (check.exitCode !== 0) throw new Error(`--check-config exited with ${check.exitCode}: ${check.stderr}`);
  const values = linesOf(check.stdout).map((line): [string, string] => {
    const [name = "", ...value] = line.split("=");
    return [name, value.join("=")];
  });
  return { errors: [], warnings: messages, values: new Map(values) };
}

const linesOf = (output: Buffer): string[] => output.toString().split("\n").filter(Boolean);

const names = [...checkConfiguration({}).values.keys()];
/** The service reports each `*_FILE` variable that it reads if its file is missing. */
const fileNames = checkConfiguration(
  Object.fromEntries(names.map((name) => [`${name}_FILE`, "/nonexistent/secret"])),
).errors.flatMap((error) => /^([A-Z_]+_FILE):/.exec(error)?.[1] ?? []);
const known: ReadonlySet<string> = new Set([...names, ...fileNames]);

/** Names that the service does not read. */
export const unknownNames = (variables: Variables): string[] =>
  Object.keys(variables).filter((name) => !known.has(name));

/**
 * Twice the pools, for the seconds after the server was frozen, two for each replica that starts, and three that PostgreSQL
 * reserves for superusers.
 */
export const connectionsOf = (replicas: number, poolSize: number): number =>
  replicas * (2 * poolSize + 2) + 3;

/** The longest time from SIGTERM to the exit of the service with these values, in seconds. */
export const shutdownSeconds = ({ values }: ReturnType<typeof checkConfiguration>): number =>
  Number(values.get("SHUTDOWN_DELAY_SECONDS")) + Number(values.get("SHUTDOWN_GRACE_SECONDS"));
