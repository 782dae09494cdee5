/** The auth operations in the OpenAPI document. */
import type { ErrorCode } from "@latchkey/contracts";
import { operation } from "../../docs/operation.ts";

const BODY_ERRORS: readonly ErrorCode[] = ["INVALID_REQUEST", "PAYLOAD_TOO_LARGE"];
const HASHING_ERRORS: readonly ErrorCode[] = ["HASH_QUEUE_FULL", "HASHER_CLOSED", "HASH_WORKER_CRASHED"];

export const register = operation({
  id: "register",
  tag: "Auth",
  summary: "Register a user",
  success: { status: 201, description: "The new user.", schema: "UserResponse" },
  errors: ["USER_ALREADY_EXISTS", ...BODY_ERRORS, ...HASHING_ERRORS, "DATABASE_UNAVAILABLE"],
  rateLimit: "Registrations have their own limit, by default 3 per 1 minute per client address.",
});

export const login = operation({
  id: "login",
  tag: "Auth",
  summary: "Exchange e-mail and password for an access token",
  success: { status: 200, description: "An access token.", schema: "TokenResponse" },
  errors: ["INVALID_CREDENTIALS", ...BODY_ERRORS, ...HASHING_ERRORS, "DATABASE_UNAVAILABLE"],
  rateLimit:
    "Logins have their own limit, by default 5 per 1 minute per client address. For each e-mail, registered or not, attempts from networks from which its user has not registered or logged in within 30 days are also limited: ten, then one every 15 minutes.",
});

export const getMe = operation({
  id: "getMe",
  tag: "Auth",
  summary: "Read the current user",
  success: { status: 200, description: "The current user.", schema: "UserResponse" },
  errors: ["DATABASE_UNAVAILABLE"],
  isProtected: true,
});

export const updateMe = operation({
  id: "updateMe",
  tag: "Auth",
  summary: "Change the username, the password or both",
  description:
    "An empty object changes nothing. `current_password` is verified if it is present, also alone; the service can be configured to require it with a new password. A password change revokes all tokens of the user except the one in this request, which remains valid until it expires or the next password change with another token. With a password or a current password, returns 401 if another request changes the password or revokes the token meanwhile.",
  success: { status: 200, description: "The updated user.", schema: "UserResponse" },
  errors: [
    "CURRENT_PASSWORD_INCORRECT",
    "USER_ALREADY_EXISTS",
    ...BODY_ERRORS,
    ...HASHING_ERRORS,
    "DATABASE_UNAVAILABLE",
  ],
  rateLimit:
    "Updates with a password or a current password have their own limit, by default 5 per 1 minute per user and per client address. After 10 wrong current passwords in one day, updates of the user with a current password return 429 for the rest of that day.",
  isProtected: true,
});

export const deleteMe = operation({
  id: "deleteMe",
  tag: "Auth",
  summary: "Delete the current user",
  success: { status: 204, description: "The user is deleted." },
  errors: ["DATABASE_UNAVAILABLE"],
  isProtected: true,
});

export const revokeTokens = operation({
  id: "revokeTokens",
  tag: "Auth",
  summary: "Revoke all tokens of the current user",
  description: "Revokes every token, including the one in this request.",
  success: { status: 204, description: "The tokens are revoked." },
  errors: ["DATABASE_UNAVAILABLE"],
  isProtected: true,
});
