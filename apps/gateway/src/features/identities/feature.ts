/** The feature "OpenID Connect providers" for the server. */
import { optionalFeature } from "../optional-feature.ts";

const PROVIDER = {
  name: "example",
  issuer: "https://login.example.com",
  client_id: "app",
  client_secret: "-",
};

export const identityFeature = optionalFeature({
  name: "identities",
  loginMethod: "provider",
  example: {
    OIDC_PROVIDERS: JSON.stringify([PROVIDER]),
    OIDC_REDIRECT_URIS: "https://app.example.com/callback",
  },
  settings: ({ OIDC_PROVIDERS, OIDC_REDIRECT_URIS }) =>
    OIDC_PROVIDERS && { providers: OIDC_PROVIDERS, redirectUris: OIDC_REDIRECT_URIS ?? [] },
  async open({ providers, redirectUris }, { config, database, keys, canLogIn, owner, login }) {
    const { identityOperations } = await import("./operations.ts");
    const { identityPages } = await import("./pages.ts");
    const { openProvider } = await import("./provider.ts");
    const { createIdentityService } = await import("./service.ts");
    const { users, identities, factors } = database;
    const { sendsMail, acceptsRegistrations: createsUsers } = config.accounts;
    const identityService = createIdentityService({
      providers: providers.map((settings) => openProvider(settings)),
      redirectUris,
      users,
      identities,
      factors,
      oidcStates: keys.oidcStates,
      canLogIn,
      sendsMail,
      createsUsers,
      owner,
    });
    return {
      operations: identityOperations(identityService, login),
      pages: identityPages({ providers, redirectUris }),
    };
  },
});
