/**
 * Logins with a code from a mail and with OpenID Connect providers. Between this page and the provider's, the tab keeps the verifier:
 * without it, the code in the address is worth nothing.
 */
const { byId, onSubmit, run, send, toBase64Url } = globalThis.forms;
const { call, change, clearedAtEnd, loginForm, logIn, proofOf, removableItem, setText, shownAfterLogin } =
  globalThis.account;

let codeState;
const codeForm = byId("code-form");
const requestForm = byId("code-request-form");
if (requestForm) {
  onSubmit(requestForm, async (members) => {
    codeState = (await send("POST", "auth/login/email/options", { body: members })).state;
    codeForm.hidden = false;
    byId("code").focus();
  });
  onSubmit(codeForm, async ({ code }) => {
    await logIn("auth/login/email", { state: codeState, code });
    codeForm.hidden = true;
  });
}

const KEY = "latchkey login";
const here = location.origin + location.pathname;

const begin = async (provider) => {
  const verifier = toBase64Url(crypto.getRandomValues(new Uint8Array(32)));
  const challenge = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  const body = { redirect_uri: here, code_challenge: toBase64Url(challenge) };
  const { authorization_url, state } = await send("POST", `auth/login/oidc/${provider}/options`, { body });
  sessionStorage.setItem(KEY, JSON.stringify({ provider, state, verifier }));
  location.assign(authorization_url);
};

const buttons = document.querySelectorAll("[data-provider]");
for (const button of buttons) {
  const { provider, pages } = button.dataset;
  button.hidden = !pages.split(" ").includes(here);
  button.addEventListener("click", () => run(loginForm, () => begin(provider)));
}

/** Ends a login that this tab has begun. The address keeps neither code nor state. */
const parameters = new URLSearchParams(location.search);
const stored = parameters.has("state") && sessionStorage.getItem(KEY);
if (stored) {
  const { provider, state, verifier } = JSON.parse(stored);
  sessionStorage.removeItem(KEY);
  history.replaceState(null, "", location.pathname);
  run(loginForm, async () => {
    const code = parameters.get("code");
    // The provider sends an error instead of a code if the user has cancelled.
    if (parameters.get("state") !== state || !code)
      throw Object.assign(new Error("No code"), { code: "IDENTITY_REJECTED" });
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
