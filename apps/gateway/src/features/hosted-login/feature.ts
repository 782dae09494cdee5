/** The feature "hosted login" for the server. */
import { optionalFeature } from "../optional-feature.ts";

export const hostedLoginFeature = optionalFeature(
  "hostedLogin",
  ({ hostedLogin }) => hostedLogin,
  async ({ clients, issuer }, { features, database, keys, store, expectToken, login }) => {
    const { hostedLoginOperations } = await import("./operations.ts");
    const { createHostedLogin } = await import("./service.ts");
    const { users } = database;
    const { authorizationCodes } = keys;
    const hasSecondFactor = features.has("secondFactor");
    const hostedLogin = createHostedLogin({ users, authorizationCodes, clients, issuer, expectToken, store });
    return {
      operations: hostedLoginOperations(hostedLogin, login, { issuer, hasSecondFactor }),
      pages: { hostedLogin: { clients, issuer } },
    };
  },
);
