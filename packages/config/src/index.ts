/** Environment variables: their definitions, parsing, and descriptions. */
export { describeEnvironment, variablesHelp, variablesTable } from "./describe.ts";
export type { KeyPairAlgorithm, PrivateKey, PublicKey } from "./key-pair.ts";
export {
  ConfigurationError,
  type Environment,
  type ParseOptions,
  parseEnvironment,
  parseVariables,
  type Variables,
} from "./parse.ts";
export { type SecretAlgorithm, weaknessOf } from "./secret-strength.ts";
export { InvalidValue, type Quota } from "./variable.ts";
export {
  type AuthAlgorithm,
  VARIABLE_NAMES,
  VARIABLES,
  type Values,
  type VariableName,
  validateKernel,
} from "./variables.ts";
