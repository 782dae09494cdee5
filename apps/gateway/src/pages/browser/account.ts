/**
 * The page of accounts: users log in, and change their account. The tab keeps the login until log-out or until it is closed; a page
 * that is restored from the back-forward cache after a log-out shows nothing of it.
 */
import type { User } from "@latchkey/client";
import { createFactorSection } from "./factor-section.ts";
import {
  activateReveals,
  codeOf,
  forgetRunning,
  messageOf,
  onSubmit,
  resetForms,
  showErrors,
} from "./forms.ts";
import { createIdentitiesSection } from "./identities-section.ts";
import { startLogin } from "./login.ts";
import { find, findForm, get, setHidden, setText, texts, wait } from "./page.ts";
import { createPasskeysSection } from "./passkeys-section.ts";
import { createTabClient } from "./session.ts";
import { forgetTab, isStorageBlocked, notice, pendingAuthorization } from "./tab.ts";
import { createUserView, learnPassword, learnWay, say, showUser } from "./user-view.ts";

activateReveals();
let user: User | undefined;

const client = createTabClient((error) => {
  forget();
  showErrors(login.form, [], codeOf(error) === "INACTIVE_USER" ? texts.INACTIVE_USER : texts.ended);
});
const refresh = (): void => {
  resetForms();
  showUser(user);
};
const view = createUserView(client, refresh);

const login = startLogin({
  client,
  async onLogin(way, isNew) {
    learnWay(way);
    try {
      await open();
    } catch (error) {
      client.logout();
      throw error;
    }
    const greeting = find("unverified")?.hidden === false ? texts.registeredMail : texts.registered;
    if (isNew) say(greeting);
    else get("welcome").focus();
  },
});

/** Forgets everything about the user. */
function forget(): void {
  forgetRunning();
  client.logout();
  forgetTab();
  user = undefined;
  for (const { clear } of sections) clear?.();
  refresh();
  setText("status", "");
  get("user").hidden = true;
  login.show();
}

function logOut(reason: string): void {
  forget();
  say(reason);
}

const identities = createIdentitiesSection(view);
const sections = [createPasskeysSection(view), identities, createFactorSection(view, logOut)];

/** Reads the user whose token the tab has, and shows the account. */
async function open(): Promise<void> {
  user = await client.getMe();
  for (const { show } of sections) await show?.();
  const isUnfinished = find<HTMLDetailsElement>("factor-section")?.open === true;
  login.hide();
  get("user").hidden = false;
  setHidden("blocked", !isStorageBlocked());
  refresh();
  if (isUnfinished) get<HTMLDetailsElement>("factor-section").open = true;
}

view.onChange("username-form", async ({ username = "" }) => {
  user = await client.updateMe({ username });
  return texts.usernameChanged;
});

view.onChange("password-form", async ({ password = "", current_password, remove_passkeys }) => {
  user = await client.updateMe({
    password,
    ...(current_password !== undefined && { current_password }),
    ...(remove_passkeys && { remove_passkeys: true }),
  });
  learnPassword(true);
  for (const { show } of sections) await show?.();
  return texts.passwordChanged;
});

view.onChange("email-form", async ({ email = "", current_password = "" }) => {
  await client.requestEmailChange({ email, current_password });
  return email.trim().toLowerCase() === user?.email ? texts.emailKept : texts.emailAsked;
});

const onEnd = (id: string, end: () => Promise<void>, success: string): void =>
  onSubmit(
    findForm(id),
    async () => {
      await end();
      logOut(success);
    },
    () => client.token === undefined,
  );
onEnd("logins-form", () => client.revokeTokens(), texts.loggedOutEverywhere);
onEnd("deletion-form", () => client.deleteMe(), texts.deleted);

get("logout").addEventListener("click", () => logOut(texts.loggedOut));
const verify = find("verify");
const requestLink = async (): Promise<string> => {
  await client.requestEmailVerification();
  return texts.linkSent;
};
verify?.addEventListener("click", () =>
  view.change(get<HTMLFormElement>("username-form"), requestLink, verify),
);

/** The success of an earlier change is over when the user begins the next one. */
const clearStatus = (): void => setText("status", "");
document.addEventListener("submit", clearStatus, true);
for (const section of document.querySelectorAll("details"))
  section.addEventListener("toggle", () => section.open && clearStatus());

/** A page in the back-forward cache keeps its memory and its text, also if the tab has logged out since. */
addEventListener("pageshow", async ({ persisted }) => {
  if (persisted && (await client.getToken()) === undefined && user) forget();
});

/** The address keeps neither code nor state of a provider, also if the login was begun elsewhere. */
async function start(): Promise<void> {
  const address = location.href;
  const isResponse = ["code", "state", "error"].some((name) => new URL(address).searchParams.has(name));
  if (isResponse) history.replaceState(null, "", location.pathname);
  const authorization = pendingAuthorization.read();
  // Who comes here by another way has given up the login for an application.
  if (!isResponse) pendingAuthorization.write(null);
  else if (authorization) {
    pendingAuthorization.write({ address: authorization.address, response: address });
    return location.replace(authorization.address);
  }
  const isAdding = identities.takesResponse();
  if (client.token === undefined) return isResponse ? login.finishProvider(address) : login.show();
  await wait(open);
  const said = notice.read();
  notice.write(null);
  if (said) say(said);
  if (isResponse && isAdding) await identities.add(address);
}

start().catch((error) => {
  if (client.token === undefined) return;
  login.show();
  showErrors(login.form, [], error instanceof Error ? messageOf(error) : texts.failed);
});
