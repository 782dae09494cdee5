/** What an operator does with users: the rules that the admin tool and the administration over HTTP share. */
export {
  type Administration,
  type AdministrationOptions,
  createAdministration,
  type Invitation,
  type NewUser,
  type UserRef,
} from "./administration.ts";
export type { Audit, AuditLine, Operator } from "./audit.ts";
export { AdministrationError } from "./errors.ts";
export { explainLogin, explainUnknown, type LoginLimits, type LoginRules } from "./explanation.ts";
export { createFactorCipher, type FactorCipher } from "./factor-cipher.ts";
export { countUsers, describeUser, describeUsers, listUsers } from "./reports.ts";
