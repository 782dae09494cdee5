/** The feature "passkeys" for the server. */
import { passkeyRpId } from "@latchkey/config";
import { optionalFeature } from "../optional-feature.ts";

export const passkeyFeature = optionalFeature({
  name: "passkeys",
  loginMethod: "passkey",
  example: { PASSKEY_ORIGINS: "https://app.example.com" },
  settings(variables) {
    const { PASSKEY_ORIGINS: origins, PRODUCT_NAME } = variables;
    const rpId = passkeyRpId(variables);
    return origins && { origins, rpId, rpName: PRODUCT_NAME ?? rpId };
  },
  async open(settings, { config, database, keys, canLogIn, owner, login }) {
    const { passkeyOperations } = await import("./operations.ts");
    const { passkeyPages } = await import("./pages.ts");
    const { createPasskeyService } = await import("./service.ts");
    const { passkeys } = database;
    const { passkeyChallenges } = keys;
    const { sendsMail } = config.accounts;
    const options = { ...settings, passkeys, passkeyChallenges, sendsMail, canLogIn, owner };
    return { operations: passkeyOperations(createPasskeyService(options), login), pages: passkeyPages };
  },
});
