/** Reads the variables of {@link Environment} from text: files behind `*_FILE`, types, bounds. Gathers faults, never throws. */
import { Compile } from "typebox/compile";
import { Default } from "typebox/value";
import { Environment, type EnvironmentName, SECRET_VARIABLES } from "./environment.ts";

type Variables = Readonly<Record<string, string | undefined>>;

/** A line for each variable that is wrong: its name, what is wrong and what is accepted; never a secret's value. */
export type Faults = Map<string, string>;

const NAMES = Object.keys(Environment.properties) as EnvironmentName[];
const PLAIN_INTEGER = /^(0|[1-9][0-9]*)$/;
/** One for each variable, because a validator stops after a few errors. */
const validators = NAMES.map((name) => [name, Compile(Environment.properties[name])] as const);

/** The values, the faulty ones replaced by their defaults so that the others can still be judged. */
export function readEnvironment(
  variables: Variables,
  readFile: (path: string) => string,
  faults: Faults,
): Environment {
  const texts = withSecretFiles(variables, readFile, faults);
  const given = Object.fromEntries(
    NAMES.filter((name) => texts[name] !== undefined).map((name) => [name, convert(name, texts[name])]),
  );
  for (const [name, validator] of validators) {
    if (given[name] === undefined || validator.Check(given[name])) continue;
    faults.set(name, `${problemOf(name, texts[name] ?? "")}; accepted: ${accepted(name)}`);
  }
  for (const name of faults.keys()) delete given[name];
  return applyDefaults(given);
}

/** What `name` accepts, in words. */
export const accepted = (name: EnvironmentName): string =>
  (Environment.properties[name] as { description?: string }).description ?? "";

const isSecret = (name: EnvironmentName): boolean => SECRET_VARIABLES.some((secret) => secret === name);

/** The cast holds once the faulty members are removed, all of which have defaults or are optional. */
const applyDefaults = (given: Record<string, unknown>): Environment =>
  Default(Environment, { ...given }) as Environment;

function problemOf(name: EnvironmentName, text: string): string {
  if (text === "") return "is empty";
  return isSecret(name) ? "has a value that is not accepted" : `cannot be ${JSON.stringify(text)}`;
}

function convert(name: EnvironmentName, text: string | undefined): unknown {
  const { type } = Environment.properties[name] as { type?: string };
  if (type === "integer" && text !== undefined && PLAIN_INTEGER.test(text)) return Number(text);
  if (type === "boolean" && (text === "true" || text === "false")) return text === "true";
  return text;
}

function withSecretFiles(
  variables: Variables,
  readFile: (path: string) => string,
  faults: Faults,
): Variables {
  const texts: Record<string, string | undefined> = { ...variables };
  for (const name of SECRET_VARIABLES) {
    const path = variables[`${name}_FILE`];
    if (path === undefined) continue;
    if (variables[name] !== undefined) {
      faults.set(`${name}_FILE`, `is set beside ${name}; accepted: one of the two`);
      continue;
    }
    try {
      texts[name] = readFile(path).replace(/\r?\n$/, "");
    } catch {
      faults.set(`${name}_FILE`, `names a file that cannot be read; accepted: the path of a readable file`);
    }
  }
  return texts;
}
