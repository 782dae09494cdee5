/** Claims are stored as the text of a JSON object. Of what else an operator stores, only valid members are read. */
import type { Claims } from "@latchkey/contracts";

export const CLAIMS_TYPE = {
  dataType: () => "text",
  fromDriver: readClaims,
  toDriver: (claims: Claims) => JSON.stringify(claims),
};

const NONE: Claims = {};

function readClaims(text: string): Claims {
  // Most users have none, and every request reads its user.
  if (text === "{}") return NONE;
  try {
    const value: unknown = JSON.parse(text);
    if (value === null || typeof value !== "object" || Array.isArray(value)) return NONE;
    return Object.fromEntries(Object.entries(value).filter(isClaim));
  } catch {
    return NONE;
  }
}

type Claim = [name: string, value: Claims[string]];

const isClaim = (member: [string, unknown]): member is Claim => {
  const [, value] = member;
  return Array.isArray(value) ? value.every(isScalar) : isScalar(value);
};

const isScalar = (value: unknown): boolean =>
  typeof value === "string" || typeof value === "boolean" || Number.isFinite(value);
