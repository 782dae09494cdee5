/** The feature "second factors" for the server. */
import { hostOf } from "@latchkey/config";
import { optionalFeature } from "../optional-feature.ts";

export const secondFactorFeature = optionalFeature({
  name: "secondFactor",
  loginMethod: "factor",
  example: { AUTH_SECOND_FACTOR: "true" },
  settings: ({ AUTH_SECOND_FACTOR, PRODUCT_NAME, PUBLIC_URL }) =>
    // The application that shows the codes also shows the issuer.
    AUTH_SECOND_FACTOR
      ? { issuer: PRODUCT_NAME ?? (PUBLIC_URL === null ? "Latchkey" : hostOf(PUBLIC_URL)) }
      : null,
  async open({ issuer }, resources) {
    const { config, database, keys, factorCipher, owner, tokens, login, clearWrongPasswords } = resources;
    if (!factorCipher) throw new Error("Second factors are on, but there is no key for them");
    const { secondFactorOperations } = await import("./operations.ts");
    const { secondFactorPages } = await import("./pages.ts");
    const { createSecondFactor } = await import("./service.ts");
    const { users, factors, outbox } = database;
    const { sendsMail } = config.accounts;
    const secondFactor = createSecondFactor({
      users,
      factors,
      outbox,
      factorStates: keys.factorStates,
      issuer,
      owner,
      tokens,
      sendsMail,
      clearWrongPasswords,
      cipher: factorCipher,
    });
    return {
      operations: secondFactorOperations(secondFactor, login, { sendsMail }),
      pages: secondFactorPages,
    };
  },
});
