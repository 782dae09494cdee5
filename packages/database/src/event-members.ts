/** What the triggers of both databases compare: for each name in `changed`, the column of `users` that it stands for. */
export const EVENT_MEMBERS = {
  email: "email",
  email_verified: "email_verified",
  username: "username",
  roles: "roles",
  claims: "claims",
  is_active: "is_active",
  tokens: "token_version",
} as const;
