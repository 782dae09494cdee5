/** The feature "OpenID Connect providers" for the server. */
import { optionalFeature } from "../optional-feature.ts";

export const identityFeature = optionalFeature(
  "identities",
  ({ oidc }) => oidc,
  async ({ providers, redirectUris }, { config, database, keys, canLogIn, owner, login }) => {
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
);
