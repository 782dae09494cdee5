/** The feature "hosted login" for the server. */
import { optionalFeature } from "../optional-feature.ts";

/** Without a path, so that the document describes the metadata. */
const ISSUER = "https://accounts.example.com";
const CLIENT = { client_id: "app", name: "Example", redirect_uris: ["https://app.example.com/callback"] };

export const hostedLoginFeature = optionalFeature({
  name: "hostedLogin",
  example: { PUBLIC_URL: ISSUER, AUTH_ISSUER: ISSUER, LOGIN_CLIENTS: JSON.stringify([CLIENT]) },
  settings: ({ LOGIN_CLIENTS, PUBLIC_URL }) =>
    LOGIN_CLIENTS && { clients: LOGIN_CLIENTS, issuer: PUBLIC_URL ?? "" },
  async open({ clients, issuer }, { features, database, keys, store, expectToken, login }) {
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
});
