/** Signs tokens as the links of mails contain them. */
import { SECRET_KEY } from "@latchkey/testing/keys";
import { createOneTimeTokens, type Purpose, type TokenUser } from "../../src/tokens/one-time-tokens.ts";

const { sign } = createOneTimeTokens([SECRET_KEY]);

/** Of a service with the default key. Only a change of e-mail names a new one. @param options.expiresAt by default in a minute */
export const signOneTimeToken = (
  purpose: Purpose,
  user: TokenUser,
  { expiresAt = Date.now() + 60_000, newEmail = "" } = {},
): string => sign(purpose, expiresAt, user, purpose === "email-change" ? newEmail : undefined);
