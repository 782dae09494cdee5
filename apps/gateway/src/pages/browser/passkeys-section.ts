/** The passkeys of the user. */
import { fill, find, get, setText, texts } from "./page.ts";
import { passwordOf, removableItem, type Section, type UserView } from "./user-view.ts";

export function createPasskeysSection({ client, change, onChange }: UserView): Section {
  const list = find("passkey-list");
  if (!list) return {};
  const form = get<HTMLFormElement>("passkey-form");

  const show = async (): Promise<void> => {
    const passkeys = await client.passkeys.list();
    const items = passkeys.map((passkey) =>
      removableItem(passkey, (button) => {
        const remove = async (): Promise<string> => {
          await client.passkeys.remove(passkey.id, passwordOf(form));
          await show();
          return fill(texts.passkeyRemoved, { name: passkey.name });
        };
        return change(form, remove, button);
      }),
    );
    list.replaceChildren(...items);
    const { length: count } = passkeys;
    setText("passkeys-value", count === 0 ? texts.none : fill(texts.passkeyCount, { count }));
  };

  onChange("passkey-form", async ({ name = "", current_password }) => {
    await client.passkeys.create(name, current_password);
    await show();
    return fill(texts.passkeyCreated, { name });
  });

  return {
    show,
    clear() {
      list.replaceChildren();
      setText("passkeys-value", "");
    },
  };
}
