/** What the sections of an account share: changes, their success and their errors, and whether the user has a password. */
import type { Client, User } from "@latchkey/client";
import { asksPassword, codeOf, type Members, onSubmit, run, showErrors } from "./forms.ts";
import { all, dateOf, fill, find, findForm, get, setText, texts, unbroken } from "./page.ts";
import { createTabValue, type Way } from "./tab.ts";

/** What a section adds to the page of a user. */
export interface Section {
  /** Shows what the service knows. Called after each login and change. */
  show?(): Promise<void>;
  /** Removes what belongs to the user. */
  clear?(): void;
}

export interface UserView {
  readonly client: Client;
  /** Runs a change, and says the text that it returns, if any. */
  change(
    form: HTMLFormElement,
    work: () => Promise<string | undefined>,
    button?: HTMLElement | null,
  ): Promise<void>;
  onChange(id: string, work: (members: Members, action: string) => Promise<string | undefined>): void;
}

/** Whether the user has a password: null if only the service knows. */
const hasPassword = createTabValue<boolean>("has password");

/** Fields for a password are for users who have one. */
function showPasswordFields(): void {
  const known = hasPassword.read();
  for (const place of all("[data-current-password]")) {
    place.hidden = known !== true;
    const input = place.querySelector("input");
    if (input) input.required = known === true && place.dataset.currentPassword === "required";
  }
}

export const learnWay = (way: Way): void => hasPassword.write(way === "password" ? true : null);

export function learnPassword(isKnown: boolean): void {
  hasPassword.write(isKnown);
  showPasswordFields();
}

/** No passkey and no identity has these ids. */
const NO_PASSKEY = "AA";
const NO_IDENTITY = Number.MAX_SAFE_INTEGER;

/**
 * Asks the service what no response states: to remove a login that does not exist changes nothing, and requires the password of a user
 * who has one. Where neither passkeys nor providers are on, the fields appear once the service asks for the password.
 */
async function askForPassword({ passkeys, oidc }: Client): Promise<void> {
  if (hasPassword.read() !== null) return;
  try {
    if (find("passkey")) await passkeys.remove(NO_PASSKEY);
    else if (find("identity-list")) await oidc.remove(NO_IDENTITY);
  } catch (error) {
    if (asksPassword(error)) learnPassword(true);
    else if (["PASSKEY_NOT_FOUND", "IDENTITY_NOT_FOUND"].includes(codeOf(error))) learnPassword(false);
  }
}

/** Whether the user has a password that the form lacks. Shows that, because a provider would be visited in vain. */
export function lacksPassword(form: HTMLFormElement): boolean {
  if (hasPassword.read() !== true || passwordOf(form) !== undefined) return false;
  showErrors(form, [["current_password", texts.askedPassword]]);
  return true;
}

/** The proof of the owner in a form; undefined: none was entered. */
export const passwordOf = (form: HTMLFormElement): string | undefined => {
  const field = form.elements.namedItem("current_password");
  return field instanceof HTMLInputElement && field.value !== "" ? field.value : undefined;
};

/** Shows a success above everything, and moves the focus there. */
export const say = (text: string): void => {
  setText("status", unbroken(text));
  get("status").focus();
};

export function createUserView(client: Client, refresh: () => void): UserView {
  for (const place of all("details:has([data-current-password])"))
    place.addEventListener("toggle", () => {
      if (place instanceof HTMLDetailsElement && place.open) void askForPassword(client);
    });
  /** A session that has ended is explained by the page. */
  const showOwnError = (error: unknown): boolean => {
    if (client.token === undefined) return true;
    if (asksPassword(error)) learnPassword(true);
    return false;
  };
  const perform = async (work: () => Promise<string | undefined>): Promise<void> => {
    const success = await work();
    if (success === undefined) return;
    refresh();
    say(success);
  };
  return {
    client,
    change: (form, work, button = null) => run(form, () => perform(work), { button, showOwnError }),
    onChange(id, work) {
      onSubmit(findForm(id), (members, action) => perform(() => work(members, action)), showOwnError);
    },
  };
}

interface Removable {
  readonly name: string;
  readonly created_at: string;
  readonly last_used_at: string | null;
}

/** An item of a list, with a button that removes it. */
export function removableItem(
  { name, created_at, last_used_at }: Removable,
  remove: (button: HTMLElement) => void,
): HTMLElement {
  const item = document.createElement("li");
  const label = document.createElement("span");
  const title = document.createElement("bdi");
  const dates = document.createElement("small");
  const button = document.createElement("button");
  const created = dateOf(created_at);
  title.textContent = name;
  dates.textContent = last_used_at
    ? fill(texts.created, { created, used: dateOf(last_used_at) })
    : fill(texts.createdOnly, { created });
  label.append(title, dates);
  button.type = "button";
  button.className = "link";
  button.textContent = texts.remove;
  button.setAttribute("aria-label", fill(texts.removeNamed, { name }));
  button.addEventListener("click", () => remove(button));
  item.append(label, button);
  return item;
}

/** Shows the user, or nobody. */
export function showUser(user: User | undefined): void {
  setText("identity", user?.email ?? "");
  setText("username-value", user?.username ?? "");
  setText("email-value", user?.email ?? "");
  for (const input of document.querySelectorAll<HTMLInputElement>(".username"))
    input.value = user?.email ?? "";
  const unverified = find("unverified");
  if (unverified) unverified.hidden = user?.email_verified !== false;
  showPasswordFields();
}
