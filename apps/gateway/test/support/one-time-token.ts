/** Signs tokens as the links of mails contain them. */
import { SECRET_KEY } from "@latchkey/testing/keys";
import { createOneTimeTokens, type Purpose, type TokenUser } from "../../src/tokens/one-time-tokens.ts";

const { sign } = createOneTimeTokens([SECRET_KEY]);

/** Of a service with the default key; by default valid for a minute. */
export const signOneTimeToken = (
  purpose: Purpose,
  user: TokenUser,
  expiresAt = Date.now() + 60_000,
  newEmail?: string,
): string => sign(purpose, expiresAt, user, newEmail);
