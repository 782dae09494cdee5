/** Parses environment variables by their definitions. All errors are reported together. No message contains a secret. */
import { describeDotenv } from "./dotenv.ts";
import { hostOf, leavesMachine } from "./network.ts";
import { weaknessOf } from "./secret-strength.ts";
import { describeUnknownVariables } from "./unknown-variables.ts";
import {
  InvalidValue,
  invalid,
  type ReadFile,
  type Variable,
  type VariableContext,
} from "./variable-kinds.ts";
import {
  passkeyRpId,
  sendsMail,
  VARIABLE_NAMES,
  VARIABLES,
  type Values,
  type VariableName,
} from "./variables.ts";

export type Variables = Readonly<Record<string, string | undefined>>;

export interface ParseOptions {
  readonly readFile: ReadFile;
  /** Whether the log is written to a terminal. @default false */
  readonly isTerminal?: boolean;
  /** Checks that need other packages. Each check can throw {@link InvalidValue}. */
  readonly checks?: { readonly [Name in VariableName]?: (text: string) => void };
}

export interface Environment<Name extends VariableName = VariableName> {
  readonly values: Pick<Values, Name>;
  /** The text of each value. For an unset variable, the text of the default, or null if there is no default. */
  readonly texts: Readonly<Record<Name, string | null>>;
  /** Sentences for the log: one for each insecure value, each misspelled name, and each value that Bun changes in `.env`. */
  readonly warnings: readonly string[];
}

/** By variable name, a text with the problem and the accepted values. */
type ConfigIssues = Map<string, string>;

export class ConfigurationError extends Error {
  override readonly name = "ConfigurationError";
  readonly code = "CONFIGURATION_ERROR";
  /** @param lines one line for each invalid variable, then one line for each misspelled name or changed value */
  constructor(readonly lines: readonly string[]) {
    super(lines.join("\n"));
  }
}

/** Reads all variables and checks them against each other. @throws {ConfigurationError} */
export function parseEnvironment(variables: Variables, options: ParseOptions): Environment {
  const misspelled = describeUnknownVariables(Object.keys(variables));
  return parse(VARIABLE_NAMES, variables, { ...options, misspelled }, validateTogether);
}

/** Reads only the variables in `names`, without the checks against each other. @throws {ConfigurationError} */
export const parseVariables = <Name extends VariableName>(
  names: readonly Name[],
  variables: Variables,
  options: ParseOptions,
): Pick<Values, Name> => parse(names, variables, options).values;

function parse<Name extends VariableName>(
  names: readonly Name[],
  variables: Variables,
  { readFile, isTerminal = false, checks = {}, misspelled = [] }: ParseOptions & { misspelled?: string[] },
  validate: (values: Pick<Values, Name>, issues: ConfigIssues) => string[] = () => [],
): Environment<Name> {
  const issues: ConfigIssues = new Map();
  const isSet = (name: string) => variables[name] !== undefined || variables[`${name}_FILE`] !== undefined;
  const isOn = (name: string) => isSet(name) && variables[name] !== "false";
  const isProduction = variables.NODE_ENV === "production";
  const context: VariableContext = { isProduction, isTerminal, isSet, isOn };
  const values: Record<string, unknown> = {};
  const texts: Record<string, string | null> = {};
  const hints = [...misspelled, ...describeDotenvValues(names, variables, readFile)];
  const warnings: string[] = [];
  for (const name of names) {
    const definition: Variable<unknown> = VARIABLES[name];
    const fallback =
      typeof definition.default === "function" ? definition.default(context) : (definition.default ?? null);
    texts[name] = fallback;
    values[name] = fallback === null ? null : definition.parse(fallback, readFile);
    let given: string | undefined;
    try {
      given = readText(name, variables, readFile);
      if (given === undefined) {
        if (definition.requiredInProduction && context.isProduction) invalid("is required in production");
        continue;
      }
      const value = definition.parse(given, readFile);
      checks[name]?.(given);
      const warning = definition.warn?.(value, context);
      if (warning) warnings.push(`${name} ${warning}`);
      texts[name] = given;
      values[name] = value;
    } catch (error) {
      // An invalid variable keeps its default, because `validate` still checks the other variables and needs all values.
      if (!(error instanceof InvalidValue)) throw error;
      const problem = error.problem ?? describeInvalid(given ?? "", definition);
      const { variable = name, accepted = definition.accepted } = error.details;
      issues.set(variable, `${problem}; accepted: ${accepted}`);
    }
  }
  const environment = typed<Name>({ values, texts, warnings });
  warnings.push(...validate(environment.values, issues), ...hints);
  const lines = Array.from(issues, ([name, issue]) => `${name}: ${issue}`);
  if (lines.length > 0) throw new ConfigurationError([...lines, ...hints]);
  return environment;
}

/** Returns one sentence for each variable in `names` that does not have the value that `.env` shows. */
export function describeDotenvValues(
  names: readonly string[],
  variables: Variables,
  readFile: ReadFile,
): string[] {
  try {
    return describeDotenv(names, variables, readFile(".env"));
  } catch {
    return [];
  }
}

function describeInvalid(text: string, { secret }: Variable<unknown>): string {
  if (text === "") return "is empty";
  return secret ? "has an unsupported value" : `${JSON.stringify(text)} is not valid`;
}

/** The cast is safe: `parse` sets each name to a value from the definition of that name, or to null if there is no default. */
const typed = <Name extends VariableName>(environment: object): Environment<Name> =>
  environment as Environment<Name>;

/** Returns the text of the variable, or of the file at `NAME_FILE` if the definition allows one. */
function readText(name: VariableName, variables: Variables, readFile: ReadFile): string | undefined {
  const { secret, file }: Variable<unknown> = VARIABLES[name];
  const path = secret || file ? variables[`${name}_FILE`] : undefined;
  if (path === undefined) return variables[name];
  const variable = `${name}_FILE`;
  if (variables[name] !== undefined) {
    throw new InvalidValue(`cannot be combined with ${name}`, { variable, accepted: "one of the two" });
  }
  try {
    return readFile(path).replace(/\r?\n$/, "");
  } catch {
    throw new InvalidValue("cannot be read", { variable, accepted: "the path of a readable file" });
  }
}

/** A key has the rights of its variable. */
const KEY_VARIABLES = ["ADMIN_API_KEYS", "ADMIN_READ_KEYS", "ADMIN_EVENT_KEYS"] as const;

/** Checks the variables against each other. Returns warnings; weak secrets are issues in production. */
function validateTogether(values: Values, issues: ConfigIssues): string[] {
  const { AUTH_ALGORITHM: algorithm, AUTH_SECRET_KEY: secretKey, AUTH_PRIVATE_KEY: privateKey } = values;
  const isProduction = values.NODE_ENV === "production";
  const isInvalid = (name: VariableName) => issues.has(name) || issues.has(`${name}_FILE`);
  const report = (name: VariableName, problem: string, accepted: string = VARIABLES[name].accepted): void => {
    if (!isInvalid(name)) issues.set(name, `${problem}; accepted: ${accepted}`);
  };

  const isSecretAlgorithm = algorithm !== "ES256" && algorithm !== "EdDSA";
  const usesPrivateKey = privateKey !== null || isInvalid("AUTH_PRIVATE_KEY") || !isSecretAlgorithm;
  if (usesPrivateKey) {
    if (privateKey === null) report("AUTH_PRIVATE_KEY", `is required with ${algorithm}`);
    else if (privateKey.algorithm !== algorithm)
      report(
        "AUTH_ALGORITHM",
        `is ${algorithm}, but AUTH_PRIVATE_KEY is a key for ${privateKey.algorithm}`,
        privateKey.algorithm,
      );
    if (secretKey !== null)
      report("AUTH_SECRET_KEY", "cannot be combined with AUTH_PRIVATE_KEY", "one of the two");
  } else if (secretKey === null) {
    if (isProduction) report("AUTH_SECRET_KEY", "is required in production");
    else if (!values.DATABASE_URL.startsWith("file:"))
      report("AUTH_SECRET_KEY", "is required with PostgreSQL");
  }

  if (values.AUTH_SECOND_FACTOR && values.AUTH_FACTOR_KEY === null) {
    if (isProduction) report("AUTH_FACTOR_KEY", "is required in production with AUTH_SECOND_FACTOR");
    else if (!values.DATABASE_URL.startsWith("file:"))
      report("AUTH_FACTOR_KEY", "is required with PostgreSQL and AUTH_SECOND_FACTOR");
  }

  // Equal keys have the same `kid`.
  const owners = new Map<string, VariableName>();
  for (const name of ["AUTH_PRIVATE_KEY", "AUTH_NEXT_PUBLIC_KEY", "AUTH_PREVIOUS_PUBLIC_KEY"] as const) {
    const jwk = JSON.stringify(values[name]?.jwk);
    const owner = owners.get(jwk);
    if (values[name] === null) continue;
    if (owner === undefined) owners.set(jwk, name);
    else report(name, `is the key of ${owner}, so both have the same kid`, "another key");
  }

  for (const name of ["AUTH_EMAIL_CHANGE", "AUTH_REQUIRE_VERIFIED_EMAIL", "AUTH_EMAIL_LOGIN"] as const)
    if (values[name] && !sendsMail(values)) report("MAIL_URL", `is required with ${name}`);
  if (values.AUTH_EMAIL_CHANGE && values.MAIL_URL !== null && values.PUBLIC_URL === null) {
    const needsOrigin = values.MAIL_EMAIL_APPROVAL_URL === null || values.MAIL_EMAIL_CHANGE_URL === null;
    if (needsOrigin) report("PUBLIC_URL", "is required with AUTH_EMAIL_CHANGE");
  }
  if (values.AUTH_RENEWAL_IDLE_HOURS > 0 && values.AUTH_RENEWAL_DAYS === 0)
    report(
      "AUTH_RENEWAL_IDLE_HOURS",
      "requires AUTH_RENEWAL_DAYS",
      "0, or a value together with AUTH_RENEWAL_DAYS",
    );
  if (values.OIDC_PROVIDERS !== null && values.OIDC_REDIRECT_URIS === null)
    report("OIDC_REDIRECT_URIS", "is required with OIDC_PROVIDERS");
  if (values.LOGIN_CLIENTS !== null) {
    const { PUBLIC_URL: publicUrl, AUTH_ISSUER: issuer } = values;
    if (publicUrl === null) report("PUBLIC_URL", "is required with LOGIN_CLIENTS");
    else if (publicUrl.startsWith("http:") && leavesMachine(publicUrl))
      report("PUBLIC_URL", "must be https with LOGIN_CLIENTS, except on this machine");
    else if (issuer !== publicUrl)
      report("AUTH_ISSUER", "must be the same as PUBLIC_URL with LOGIN_CLIENTS", publicUrl);
  }
  if (values.MAIL_URL !== null) {
    const needsOrigin = values.MAIL_RESET_URL === null || values.MAIL_VERIFICATION_URL === null;
    if (values.MAIL_FROM === null) report("MAIL_FROM", "is required with MAIL_URL");
    if (values.PUBLIC_URL === null && needsOrigin) report("PUBLIC_URL", "is required with MAIL_URL");
  }

  const rpId = passkeyRpId(values);
  const isForeign = (origin: string) => !`.${hostOf(origin)}`.endsWith(`.${rpId}`);
  const foreign = values.PASSKEY_ORIGINS?.find(isForeign);
  if (foreign !== undefined) {
    const accepted = `the host of ${foreign}, or a parent domain`;
    report("PASSKEY_RP_ID", `is ${rpId}, to which not every origin belongs`, accepted);
  } else if (values.PASSKEY_ORIGINS !== null && !/\.|^localhost$/.test(rpId))
    report(
      "PASSKEY_RP_ID",
      `is ${rpId}, for which browsers offer no passkeys`,
      "localhost, or a domain with a dot",
    );

  const warnings: string[] = [];
  const languages = new Set<string>([...values.LANGUAGES, "default"]);
  for (const language of Object.keys(values.MAIL_TEXTS ?? {}))
    if (!languages.has(language))
      warnings.push(
        `MAIL_TEXTS has texts for ${language}, which LANGUAGES does not contain: they are not used`,
      );
  if (values.OIDC_PROVIDERS !== null && !sendsMail(values))
    warnings.push(
      "OIDC_PROVIDERS is set without MAIL_URL: users who log in with a provider cannot reset a password",
    );
  if (values.LOGIN_CLIENTS !== null && values.AUTH_RENEWAL_DAYS === 0)
    warnings.push(
      "LOGIN_CLIENTS is set without AUTH_RENEWAL_DAYS: users must log in again whenever a token expires",
    );
  if (isProduction && values.TODOS_ENABLED)
    warnings.push("TODOS_ENABLED is true: everybody can read, change and delete all todos; set it to false");
  for (const name of ["AUTH_SECRET_KEY_PREVIOUS", "AUTH_PREVIOUS_PUBLIC_KEY"] as const)
    if (values.AUTH_RENEWAL_DAYS > 0 && values[name] !== null)
      warnings.push(
        `${name} is set with AUTH_RENEWAL_DAYS: tokens of this key can be renewed, so remove a key that leaked`,
      );
  for (const name of ["AUTH_SECRET_KEY", "AUTH_SECRET_KEY_PREVIOUS"] as const) {
    const key = values[name];
    const weakness = key === null ? null : weaknessOf(key, isSecretAlgorithm ? algorithm : "HS256");
    if (weakness && isProduction) report(name, weakness);
    else if (weakness) warnings.push(`${name} ${weakness}; production rejects it`);
  }
  const others: VariableName[] = ["PORT"];
  for (const name of ["METRICS_PORT", "ADMIN_PORT"] as const) {
    const same = others.find((other) => values[other] === values[name] && !issues.has(other));
    if (same !== undefined && values[name] !== 0 && values[name] !== null)
      report(name, `is the same as ${same}`, "another port");
    others.push(name);
  }
  const keyOwners = new Map<string, VariableName>();
  for (const name of KEY_VARIABLES)
    for (const { key } of values[name] ?? []) {
      const owner = keyOwners.get(key) ?? name;
      keyOwners.set(key, owner);
      if (owner !== name) report(name, `contains a key of ${owner}`, "keys that no other variable contains");
    }
  if (values.ADMIN_PORT !== null && KEY_VARIABLES.every((name) => values[name] === null && !isInvalid(name)))
    report(
      "ADMIN_API_KEYS",
      "is required with ADMIN_PORT, unless ADMIN_READ_KEYS or ADMIN_EVENT_KEYS is set",
    );
  return warnings;
}
