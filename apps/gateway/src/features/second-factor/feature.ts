/** The feature "second factors" for the server. */
import { optionalFeature } from "../optional-feature.ts";

export const secondFactorFeature = optionalFeature({
  name: "secondFactor",
  example: { AUTH_SECOND_FACTOR: "true" },
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
