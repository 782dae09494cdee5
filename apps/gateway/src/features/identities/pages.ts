/** What providers add to the pages of accounts: a button each. `pages/browser/identities-section.ts` lists the user's logins. */
import type { CardContext } from "../../pages/card.ts";
import type { FeaturePages } from "../../pages/feature-pages.ts";
import { brandOf, markOf } from "../../pages/marks.ts";
import { currentPasswordField } from "../../pages/section.ts";

interface ProviderButton {
  readonly name: string;
  readonly issuer: string;
  readonly type: "oidc" | "github";
  /** The text of the button. */
  readonly label: string | null;
}

interface IdentityPagesOptions {
  readonly providers: readonly ProviderButton[];
  /** The pages to which providers can send a user. */
  readonly redirectUris: readonly string[];
}

/** How users know the provider. Its label is a sentence of a login, such as "Continue with Example". */
const nameOf = (provider: ProviderButton): string => brandOf(provider) ?? provider.name;

export function identityPages({ providers, redirectUris }: IdentityPagesOptions): FeaturePages {
  /** The script shows the buttons only if providers can send users to the address of the page. */
  const buttons = (use: "login" | "add", textOf: (provider: ProviderButton) => string): string[] =>
    providers.map((provider) => {
      const attributes = [
        `data-provider="${provider.name}"`,
        `data-use="${use}"`,
        `data-name="${Bun.escapeHTML(nameOf(provider))}"`,
        `data-pages="${Bun.escapeHTML(redirectUris.join(" "))}"`,
      ];
      return `<button type="button" class="other" ${attributes.join(" ")} hidden>${markOf(provider)}<bdi>${Bun.escapeHTML(textOf(provider))}</bdi></button>`;
    });
  const loginButtons = (textOf: (name: string) => string) =>
    buttons("login", (provider) => provider.label ?? textOf(nameOf(provider)));

  const content = (context: CardContext) => `<ul class="removable" id="identity-list"></ul>
<form id="identity-form" novalidate><p class="problem" role="alert" tabindex="-1"></p>
${currentPasswordField("identity-current", context)}
<div class="ways">
${buttons("add", (provider) => context.texts.account.addIdentity(nameOf(provider))).join("\n")}
</div></form>`;

  return {
    section: (context) => ({
      id: "identities",
      title: context.texts.account.identities,
      hasValue: true,
      effect: context.texts.account.identitiesEffect,
      content: content(context),
    }),
    loginWays: ({ texts }) => loginButtons(texts.login.provider),
    // The first login with a provider creates the account.
    registrationWays: ({ texts }) => loginButtons(texts.register.provider),
  };
}
