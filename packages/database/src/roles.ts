/** Roles are the text of a JSON array. Any other text, which an operator can have written, is read as none. */
export const ROLES_TYPE = {
  dataType: () => "text",
  fromDriver: readRoles,
  toDriver: (roles: string[]) => JSON.stringify(roles),
};

function readRoles(text: string): string[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value.filter((role) => typeof role === "string") : [];
  } catch {
    return [];
  }
}
