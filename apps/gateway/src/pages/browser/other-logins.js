/**
 * Logins with a code from a mail and with OpenID Connect providers. The tab keeps unfinished logins, so a reload loses none: the states of
 * the codes that are still valid, and the verifier, without which the code in the address of a provider's response is worth nothing.
 */
const { byId, onSubmit, run, send, toBase64Url } = globalThis.forms;
const { call, change, clearedAtEnd, loginForm, logIn, proofOf, removableItem, setText, shownAfterLogin } =
  globalThis.account;

/** A value in the tab's storage. A browser that blocks the storage throws when it is used. */
const tabValue = (key) => ({
  read() {
    try {
      return JSON.parse(sessionStorage.getItem(key));
    } catch {
      return null;
    }
  },
  /** @param value null: none @returns whether the value is stored */
  write(value) {
    try {
      if (value === null) sessionStorage.removeItem(key);
      else sessionStorage.setItem(key, JSON.stringify(value));
      return true;
    } catch {
      return false;
    }
  },
});

/** How long a code is valid. */
const CODE_MS = 10 * 60 * 1000;
const storedCodes = tabValue("latchkey codes");
/** The requests of codes in this tab, the newest first. Each has the e-mail, the state and its time. */
let codes = storedCodes.read() ?? [];
const keepCodes = (next) => {
  codes = next.filter(({ requestedAt }) => Math.abs(Date.now() - requestedAt) < CODE_MS);
  storedCodes.write(codes.length > 0 ? codes : null);
};
keepCodes(codes);

/** Tries the code with every request for the e-mail of the newest one. Throws the error of the newest one. */
const logInWithCode = async (code) => {
  const { email } = codes[0];
  let rejected;
  for (const { state } of codes.filter((requested) => requested.email === email)) {
    try {
      return await logIn("auth/login/email", { state, code });
    } catch (error) {
      if (error.code !== "LOGIN_CODE_INVALID") throw error;
      rejected ??= error;
    }
  }
  throw rejected;
};

const codeForm = byId("code-form");
const requestForm = byId("code-request-form");
if (requestForm) {
  onSubmit(requestForm, async (members) => {
    const { state } = await send("POST", "auth/login/email/options", { body: members });
    const email = members.email.trim().toLowerCase();
    keepCodes([{ email, state, requestedAt: Date.now() }, ...codes]);
    codeForm.hidden = false;
    byId("code").focus();
  });
  onSubmit(codeForm, async ({ code }) => {
    await logInWithCode(code);
    keepCodes([]);
    codeForm.hidden = true;
  });
  if (codes.length > 0) {
    byId("code-email").value = codes[0].email;
    byId("code-section").open = true;
    codeForm.hidden = false;
  }
}

const storedLogin = tabValue("latchkey login");
/** An error with its own text in the form. */
const errorOf = (code) => Object.assign(new Error(code), { code });
const here = location.origin + location.pathname;

const begin = async (provider) => {
  const verifier = toBase64Url(crypto.getRandomValues(new Uint8Array(32)));
  const challenge = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  const body = { redirect_uri: here, code_challenge: toBase64Url(challenge) };
  const { authorization_url, state } = await send("POST", `auth/login/oidc/${provider}/options`, { body });
  if (!storedLogin.write({ provider, state, verifier })) throw errorOf("STORAGE_BLOCKED");
  location.assign(authorization_url);
};

const buttons = document.querySelectorAll("[data-provider]");
for (const button of buttons) {
  const { provider, pages } = button.dataset;
  button.hidden = !pages.split(" ").includes(here);
  button.addEventListener("click", () => run(loginForm, () => begin(provider)));
}

/** Ends a login that this tab has begun. The address keeps neither code nor state, also if the login was begun elsewhere. */
const parameters = new URLSearchParams(location.search);
// The state in the address of that page belongs to an application.
const isAuthorization = byId("authorization") !== null;
if (!isAuthorization && ["code", "state", "error"].some((name) => parameters.has(name))) {
  const begun = storedLogin.read();
  storedLogin.write(null);
  history.replaceState(null, "", location.pathname);
  run(loginForm, async () => {
    const code = parameters.get("code");
    // The provider sends an error instead of a code if the user has cancelled, and some send it without the state.
    if (!code) throw errorOf("IDENTITY_REJECTED");
    if (!begun || parameters.get("state") !== begun.state) throw errorOf("BEGUN_ELSEWHERE");
    const { provider, state, verifier } = begun;
    const iss = parameters.get("iss");
    await logIn(`auth/login/oidc/${provider}`, { code, state, code_verifier: verifier, ...(iss && { iss }) });
  });
}

const showIdentities = async () => {
  const identities = await call("GET", "auth/identities");
  const items = identities.map((identity) =>
    removableItem({ ...identity, name: identity.provider }, () =>
      change(byId("identity-form"), async () => {
        await call("POST", `auth/identities/${identity.id}/removal`, proofOf(byId("identity-form")));
        await showIdentities();
        return `The login with ${identity.provider} is removed.`;
      }),
    ),
  );
  byId("identity-list").replaceChildren(...items);
  setText("identities-value", identities.length === 0 ? "none" : String(identities.length));
};

if (byId("identity-list")) {
  shownAfterLogin.push(showIdentities);
  clearedAtEnd.push(() => {
    byId("identity-list").replaceChildren();
    setText("identities-value", "");
  });
}
