/**
 * Logs in and changes the account. The token is in memory only: a script that an attacker could run later finds none, and when
 * the page is left or reloaded, or restored from the back-forward cache, nobody is logged in.
 */
const { byId, cancelRequests, onSubmit, run, send, showErrors, unbroken } = globalThis.forms;
const { webauthn } = globalThis;
const visitor = byId("visitor");
const loginForm = byId("login-form");
/** The access token and the user; undefined: nobody is logged in. */
let token;
let user;

const call = (method, path, body) => send(method, path, { body, token });

/** Shows a success above everything, and moves the focus there. */
const say = (text) => {
  byId("status").textContent = unbroken(text);
  byId("status").focus();
};

const setText = (id, text) => {
  const place = byId(id);
  if (place) place.textContent = text;
};

const resetForms = () => {
  for (const form of document.forms) form.reset();
  for (const place of document.querySelectorAll(".error, .problem, .status")) place.textContent = "";
  for (const section of document.querySelectorAll("details")) section.open = false;
  if (byId("factor-form")) byId("factor-form").hidden = true;
};

const showUser = () => {
  resetForms();
  visitor.hidden = Boolean(user);
  byId("user").hidden = !user;
  setText("identity", user?.email ?? "");
  setText("username-value", user?.username ?? "");
  setText("email-value", user?.email ?? "");
  for (const input of document.querySelectorAll(".username")) input.value = user?.email ?? "";
  if (byId("unverified")) byId("unverified").hidden = user?.email_verified !== false;
};

/** What other scripts of the page do after a login and after its end. */
const shownAfterLogin = [];
const clearedAtEnd = [];

/** Forgets everything about the user, and optionally says why. */
const logOut = (reason) => {
  cancelRequests();
  token = undefined;
  user = undefined;
  byId("passkey-list")?.replaceChildren();
  setText("passkeys-value", "");
  for (const clear of clearedAtEnd) clear();
  showUser();
  if (reason) say(reason);
};

/** The claims of the token. */
const claimsOf = () => {
  const [, claims] = token.split(".");
  return JSON.parse(atob(claims.replaceAll("-", "+").replaceAll("_", "/")));
};

const dateOf = (time) => new Date(time).toLocaleDateString();

/** An item of a list, with a button that removes it. */
const removableItem = ({ name, created_at, last_used_at }, remove) => {
  const item = document.createElement("li");
  const label = document.createElement("span");
  const dates = document.createElement("small");
  const button = document.createElement("button");
  const used = last_used_at ? `used on ${dateOf(last_used_at)}` : "not used yet";
  dates.textContent = `Created on ${dateOf(created_at)}, ${used}`;
  label.append(name, dates);
  button.className = "link";
  button.textContent = "Remove";
  button.setAttribute("aria-label", `Remove ${name}`);
  button.addEventListener("click", remove);
  item.append(label, button);
  return item;
};

/** The body of a removal. A user without a password leaves the field empty. */
const proofOf = (form) => {
  const { value } = form.elements.current_password;
  return value === "" ? {} : { current_password: value };
};

const passkeyItem = (passkey) =>
  removableItem(passkey, () =>
    change(byId("passkey-form"), async () => {
      await call("POST", `auth/passkeys/${passkey.id}/removal`, proofOf(byId("passkey-form")));
      await showPasskeys();
      return `The passkey “${passkey.name}” is removed.`;
    }),
  );

const showPasskeys = async () => {
  if (!webauthn) return;
  const passkeys = await call("GET", "auth/passkeys");
  byId("passkey-list").replaceChildren(...passkeys.map(passkeyItem));
  setText("passkeys-value", passkeys.length === 0 ? "none" : `${passkeys.length} of at most 10`);
};

const ENDED = ["INVALID_TOKEN", "LOGIN_REQUIRED", "USER_NOT_FOUND"];
/** Asks for a new login if the token has ended. */
const showEnd = ({ code }) => {
  if (!ENDED.includes(code)) return false;
  logOut();
  showErrors(loginForm, [], "Your login has ended. Please log in again.");
  return true;
};

const showTaken = (form, { code }) => {
  if (code !== "USER_ALREADY_EXISTS") return false;
  showErrors(form, [["username", "Somebody else has this username."]]);
  return true;
};

const showError = (form) => (error) => showEnd(error) || showTaken(form, error);

/** Runs `work` for the user, and says the text that it returns. */
const perform = async (work) => {
  const success = await work();
  showUser();
  say(success);
};
const change = (form, work) => run(form, () => perform(work), showError(form));
const onChange = (id, work) => {
  const form = byId(id);
  if (form) onSubmit(form, (members) => perform(() => work(members)), showError(form));
};

const factorForm = byId("factor-form");
let factorState;
/** Returns the token of a login. Asks for a code if the user has a second factor. */
const requestToken = async (path, credentials) => {
  try {
    return (await send("POST", path, { body: credentials })).access_token;
  } catch (error) {
    if (error.code !== "SECOND_FACTOR_REQUIRED" || !factorForm) throw error;
    factorState = error.state;
    factorForm.hidden = false;
    byId("factor-code").focus();
  }
};

/** @param credentials the body of the operation at `path` */
const logIn = async (path, credentials) => {
  token = await requestToken(path, credentials);
  if (!token) return;
  try {
    user = await call("GET", "auth/me");
    await showPasskeys();
    for (const show of shownAfterLogin) await show();
  } catch (error) {
    token = undefined;
    user = undefined;
    throw error;
  }
  showUser();
  byId("welcome").focus();
};

if (factorForm)
  onSubmit(
    factorForm,
    ({ code }) => logIn("auth/login/factor", { state: factorState, code }),
    (error) => {
      if (error.code !== "LOGIN_REQUIRED") return false;
      factorForm.hidden = true;
      return showEnd(error);
    },
  );
onSubmit(loginForm, (credentials) => logIn("auth/login", credentials));
byId("passkey")?.addEventListener("click", () =>
  run(loginForm, async () => {
    const { options, state } = await send("POST", "auth/login/passkey/options");
    await logIn("auth/login/passkey", { state, response: await webauthn.get(options) });
  }),
);

onChange("username-form", async (members) => {
  user = await call("PATCH", "auth/me", members);
  return "Your username is changed.";
});

onChange("password-form", async ({ remove_passkeys, ...members }) => {
  await call("PATCH", "auth/me", { ...members, ...(remove_passkeys && { remove_passkeys: true }) });
  await showPasskeys();
  return "Your password is changed. All other logins have ended.";
});

onChange("email-form", async (members) => {
  await call("POST", "auth/email-change", members);
  const isPresent = members.email.trim().toLowerCase() === user.email;
  return isPresent ? "Your e-mail stays as it is." : "If this e-mail can be used, a link is on its way.";
});

onChange("passkey-form", async ({ name, ...members }) => {
  const { options, state } = await call("POST", "auth/passkeys/options", members);
  await call("POST", "auth/passkeys", { state, response: await webauthn.create(options), name });
  await showPasskeys();
  return `The passkey “${name}” is created.`;
});

const onEnd = (id, path, success) => {
  const form = byId(id);
  onSubmit(
    form,
    async () => {
      await call("DELETE", path);
      logOut(success);
    },
    showError(form),
  );
};
onEnd("logins-form", "auth/tokens", "You are logged out everywhere.");
onEnd("deletion-form", "auth/me", "Your account is deleted.");

byId("logout").addEventListener("click", () => logOut("You are logged out."));
byId("verify")?.addEventListener("click", () =>
  change(byId("username-form"), async () => {
    await call("POST", "auth/email-verification");
    return "A new link is on its way.";
  }),
);

/** The success of an earlier change is over when the user begins the next one. */
const clearStatus = () => setText("status", "");
document.addEventListener("submit", clearStatus, true);
for (const section of document.querySelectorAll("details"))
  section.addEventListener("toggle", () => section.open && clearStatus());

// A page in the back-forward cache keeps its memory and its text.
addEventListener("pagehide", () => logOut());

globalThis.account = {
  call,
  change,
  claimsOf,
  clearedAtEnd,
  loginForm,
  logIn,
  logOut,
  proofOf,
  removableItem,
  setText,
  shownAfterLogin,
};
