/** Roles are stored as the text of a JSON array. If an operator stores any other text, the user has no roles. */
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
