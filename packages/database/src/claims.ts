/** Claims are stored as the text of a JSON object. If an operator stores any other text, the user has no claims. */
export const CLAIMS_TYPE = {
  dataType: () => "text",
  fromDriver: readClaims,
  toDriver: (claims: Claims) => JSON.stringify(claims),
};

type Claims = Readonly<Record<string, unknown>>;

function readClaims(text: string): Claims {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === "object" && !Array.isArray(value) ? { ...value } : {};
  } catch {
    return {};
  }
}
