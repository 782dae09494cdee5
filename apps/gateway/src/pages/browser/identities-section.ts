/** The logins with providers: the user removes them, and adds those whose providers can send users to this page. */
import { onSubmit, run } from "./forms.ts";
import { beginProvider, explainProvider } from "./login.ts";
import { all, fill, find, get, setText, texts } from "./page.ts";
import { createTabValue } from "./tab.ts";
import { lacksPassword, passwordOf, removableItem, type Section, type UserView } from "./user-view.ts";

/** Whether the tab has left the page to add a provider, not to log in. */
const adding = createTabValue<boolean>("adding");

export interface IdentitiesSection extends Section {
  /** Whether the tab comes back from a provider that it adds. Forgets that. */
  takesResponse(): boolean;
  /** Adds the provider, with the address to which it has sent the user. */
  add(address: string): Promise<void>;
}

export function createIdentitiesSection({ client, change }: UserView): IdentitiesSection {
  const list = find("identity-list");
  const form = find<HTMLFormElement>("identity-form");
  const buttons = [...all("[data-provider]")].filter(({ dataset }) => dataset.use === "add");
  const nameOf = (provider: string): string =>
    buttons.find(({ dataset }) => dataset.provider === provider)?.dataset.name ?? provider;

  // The form has no button of its own: the key Enter in its field does nothing.
  onSubmit(form, async () => {});
  for (const button of buttons) {
    const { provider = "" } = button.dataset;
    button.addEventListener("click", () => {
      if (!form) return;
      const begin = async (): Promise<void> => {
        adding.write(true);
        await beginProvider(client, provider, { currentPassword: passwordOf(form) });
      };
      if (!lacksPassword(form)) void run(form, begin, { button });
    });
  }

  const show = async (): Promise<void> => {
    if (!list || !form) return;
    const identities = await client.oidc.list();
    const items = identities.map((identity) => {
      const name = nameOf(identity.provider);
      return removableItem({ ...identity, name }, (button) => {
        const remove = async (): Promise<string> => {
          await client.oidc.remove(identity.id, passwordOf(form));
          await show();
          return fill(texts.identityRemoved, { name });
        };
        return change(form, remove, button);
      });
    });
    list.replaceChildren(...items);
    setText("identities-value", identities.length === 0 ? texts.none : String(identities.length));
  };

  return {
    show,
    clear() {
      list?.replaceChildren();
      setText("identities-value", "");
    },
    takesResponse() {
      const takes = adding.read() === true;
      adding.write(null);
      return takes;
    },
    async add(address) {
      if (!form) return;
      get<HTMLDetailsElement>("identities-section").open = true;
      await change(form, async () => {
        const { provider } = await explainProvider(address, () => client.oidc.add(address));
        await show();
        return fill(texts.identityAdded, { name: nameOf(provider) });
      });
    },
  };
}
