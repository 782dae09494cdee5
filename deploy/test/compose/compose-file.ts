/** docker-compose.yml as Compose reads it: variables interpolated from an env file, merge keys resolved. */
import { join } from "node:path";
import { ROOT } from "@latchkey/testing/repository";

/** The members that the tests read one by one. */
export interface Service {
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly profiles?: readonly string[];
  readonly command?: readonly string[];
  readonly env_file?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly networks?: readonly string[];
  readonly depends_on?: Readonly<Record<string, object>>;
  readonly stop_grace_period?: string;
}

interface ComposeFile {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean } | null>>;
  readonly volumes: Readonly<Record<string, null>>;
}

const INTERPOLATION = /\$\{([A-Z_]+):-([^}]*)\}/g;

export const composeText = await Bun.file(join(ROOT, "docker-compose.yml")).text();
export const exampleText = await Bun.file(join(ROOT, ".env.example")).text();

/** Reads `NAME=value` lines and ignores all others. */
export function parseEnvFile(text: string): Record<string, string> {
  const lines = text.split("\n").filter((line) => /^[A-Z_]+=/.test(line));
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );
}

/** The defaults of `${NAME:-default}`, the only form of interpolation that the file uses. */
export const defaults = Object.fromEntries(
  [...composeText.matchAll(INTERPOLATION)].map(([, name = "", fallback = ""]) => [name, fallback]),
);

/** The cast is safe because `compose.test.ts` validates the file against the published schema. */
export const readCompose = (variables: Readonly<Record<string, string>> = {}): ComposeFile =>
  Bun.YAML.parse(
    composeText
      .replace(INTERPOLATION, (_, name: string, fallback: string) => variables[name] || fallback)
      .replaceAll("$$", "$"),
  ) as ComposeFile;

/** The environment of a container of the image, with an env file. */
export const environmentOf = (
  { environment = {} }: Pick<Service, "environment">,
  envFile: Readonly<Record<string, string>>,
): Record<string, string> =>
  Object.fromEntries(
    // An empty default is null in YAML.
    Object.entries({ ...envFile, ...environment }).map(([name, value]) => [name, String(value ?? "")]),
  );
