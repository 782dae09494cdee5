/** The log lines of an operator's changes. The admin tool and the service write the same members with the same event names. */
import { isDeepStrictEqual } from "node:util";
import { type Claims, isSameEmail } from "@latchkey/contracts";
import type { OperatorChange, User } from "@latchkey/database";

/** Who makes a change, and why. */
export interface Operator {
  /** `cli:USER` or `admin:NAME`. */
  readonly actor: string;
  readonly reason?: string | undefined;
  /** The request that makes the change. undefined: the admin tool makes it. */
  readonly request_id?: string | undefined;
}

export interface AuditLine extends Operator {
  readonly event: string;
  readonly user_id: number;
  /** Only if the change concerns roles. */
  readonly roles?: readonly string[] | undefined;
  readonly previous_roles?: readonly string[] | undefined;
  /** The names of the changed claims: their values can be personal data. */
  readonly claims?: readonly string[] | undefined;
}

/** Writes the line of a change that was made. */
export type Audit = (line: AuditLine) => void;

type ChangedMembers = Pick<AuditLine, "roles" | "previous_roles" | "claims">;

interface ChangeLog {
  write(event: string, user: Pick<User, "id">, operator: Operator, changed?: ChangedMembers): void;
  /** Writes a line for each kind of change. */
  writeChange(before: User, user: User, change: OperatorChange, operator: Operator): void;
}

export function createChangeLog(audit: Audit): ChangeLog {
  const write: ChangeLog["write"] = (event, { id }, { actor, reason, request_id }, changed) =>
    audit({ request_id, event, user_id: id, actor, reason, ...changed });

  return {
    write,
    writeChange(before, user, change, operator) {
      const { email, hashedPassword, roles, claims, isActive, ...others } = change;
      if (email !== undefined && !isSameEmail(email, before.email)) write("email.changed", user, operator);
      if (hashedPassword !== undefined) write("password.changed", user, operator);
      if (roles !== undefined)
        write("roles.changed", user, operator, { roles: user.roles, previous_roles: before.roles });
      if (claims !== undefined)
        write("claims.changed", user, operator, { claims: changedNames(before.claims, claims) });
      if (isActive !== undefined) write(isActive ? "user.activated" : "user.deactivated", user, operator);
      if (Object.values(others).some((value) => value !== undefined)) write("user.updated", user, operator);
    },
  };
}

/** What the log says of a new user. */
export const givenTo = ({ roles, claims }: User) => ({
  ...(roles.length > 0 && { roles, previous_roles: [] }),
  ...(Object.keys(claims).length > 0 && { claims: Object.keys(claims) }),
});

/** In sorted order. */
export const changedNames = (some: Claims, others: Claims): string[] =>
  [...new Set([...Object.keys(some), ...Object.keys(others)])]
    .filter((name) => !isDeepStrictEqual(some[name], others[name]))
    .sort();
