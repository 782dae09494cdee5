/** docker-compose.yml as Compose reads it: variables interpolated from an env file, merge keys resolved. */
import { join } from "node:path";
import { ROOT } from "@latchkey/testing/repository";

export interface Service {
  readonly image: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly profiles: readonly string[];
  readonly environment?: Readonly<Record<string, string | null>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly tmpfs?: readonly string[];
  readonly networks: readonly string[] | Readonly<Record<string, { readonly aliases: readonly string[] }>>;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string; readonly required?: boolean }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly stop_grace_period?: string;
}

export interface ComposeFile {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean } | null>>;
  readonly volumes: Readonly<Record<string, null>>;
}

export const composeText = await Bun.file(join(ROOT, "docker-compose.yml")).text();
export const exampleText = await Bun.file(join(ROOT, ".env.example")).text();

/** Reads `NAME=value` lines and ignores all others. */
export function parseEnvFile(text: string): Record<string, string> {
  const lines = text.split("\n").filter((line) => /^[A-Z_]+=/.test(line));
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );
}

/**
 * Replaces `${NAME:-default}` and `${NAME:?message}`, the two forms that the file uses.
 * @throws Error with the message if such a variable is unset or empty
 */
export function interpolate(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replace(/\$\{([A-Z_]+):([-?])([^}]*)\}/g, (_, name: string, form: string, rest: string) => {
    const value = variables[name] ?? "";
    if (value !== "") return value;
    if (form === "?") throw new Error(`${name}: ${rest}`);
    return rest;
  });
}

/** The cast is safe because `compose.test.ts` validates the file against the published schema. */
export const readCompose = (variables: Readonly<Record<string, string>>): ComposeFile =>
  Bun.YAML.parse(interpolate(composeText, variables)) as ComposeFile;
