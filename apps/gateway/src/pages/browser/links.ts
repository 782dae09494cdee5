/**
 * Sends the form and the token of a link. The token comes from the fragment, which browsers send to no server. Until it is used,
 * the entry of the history keeps it for a reload, and the address does not show it.
 */
import { LatchkeyError } from "@latchkey/client";
import { activateReveals, codeOf, type Members, onSubmit, showErrors } from "./forms.ts";
import { all, find, get, ROOT, texts } from "./page.ts";
import { createTabClient } from "./session.ts";
import {
  forgetTab,
  isStorageBlocked,
  notice,
  pendingAuthorization,
  pendingFactor,
  requestedEmail,
} from "./tab.ts";
import { learnWay } from "./user-view.ts";

activateReveals();
const client = createTabClient();
const form = get<HTMLFormElement>("link-form");
const { action = "" } = form.dataset;
const needsToken = action !== "request";

/** The cast is safe because only this page writes the state of its entries in the history. */
const kept = history.state as { readonly token?: string } | null;
const token = new URLSearchParams(location.hash.slice(1)).get("token") ?? kept?.token ?? "";
const keep = (state: object | null): void => history.replaceState(state, "", location.pathname);
keep(token ? { token } : null);

/** Where the user has left the login for an application: the login goes on there, not at the account. */
const authorization = pendingAuthorization.read();
for (const link of all<HTMLAnchorElement>("#success a[href$=account], .others a[href$=account]"))
  if (authorization) link.href = authorization.address;

const replaceForm = (id: string): void => {
  keep(null);
  form.hidden = true;
  const place = get(id);
  place.hidden = false;
  place.focus();
};

/** Runs a normal login with the password that was just set, if the page knows the e-mail. Returns whether the page is left. */
async function logIn(email: string | undefined, password: string): Promise<boolean> {
  // Without a storage, the next page would not have the login.
  if (!email || isStorageBlocked()) return false;
  try {
    await client.login({ email, password });
  } catch (error) {
    const isAsked = error instanceof LatchkeyError && error.code === "SECOND_FACTOR_REQUIRED";
    // The password is set: whatever prevents the login, the form of the login explains it.
    if (!isAsked) return false;
    pendingFactor.write({ state: error.state ?? "", way: "password" });
    return true;
  }
  learnWay("password");
  notice.write(texts.passwordSet);
  return true;
}

const emailInput = find<HTMLInputElement>("username");
if (emailInput) emailInput.value = requestedEmail.read() ?? "";

/** By the action of the form. Each returns whether the page is left. */
const ACTIONS: Readonly<Record<string, (members: Members) => Promise<boolean>>> = {
  async request({ email = "" }) {
    await client.requestPasswordReset({ email });
    requestedEmail.write(email);
    return false;
  },
  async password({ password = "" }) {
    await client.confirmPasswordReset({ token, password });
    const email = emailInput?.value.trim() || requestedEmail.read();
    // The reset has ended whatever login the tab had, which can be that of another user.
    client.logout();
    forgetTab();
    if (!authorization) return logIn(email ?? undefined, password);
    pendingAuthorization.write(authorization);
    return false;
  },
  async verification() {
    await client.confirmEmailVerification({ token });
    return false;
  },
  async approval() {
    await client.approveEmailChange({ token });
    return false;
  },
  async change() {
    await client.confirmEmailChange({ token });
    return false;
  },
};

onSubmit(
  form,
  async (members) => {
    const isLeft = await ACTIONS[action]?.(members);
    form.reset();
    if (!isLeft) return replaceForm("success");
    keep(null);
    location.assign(`${ROOT}account`);
  },
  (error) => {
    if (codeOf(error) === "ONE_TIME_TOKEN_INVALID") replaceForm("dead");
    else if (error instanceof LatchkeyError && error.status === 409) showErrors(form, [], texts.conflict);
    else return false;
    return true;
  },
);

if (needsToken && !token) replaceForm("dead");
// Opening another link of the same kind in this tab changes only the fragment.
addEventListener("hashchange", () => location.reload());
