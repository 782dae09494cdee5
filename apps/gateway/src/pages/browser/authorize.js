/**
 * Logs in for an application: gets a code with the token of the login, and leads back to the application. The service has checked the
 * attributes of the page. The token is forgotten when the page is left.
 */
const { byId } = globalThis.forms;
const { call, claimsOf, loginForm, logOut, shownAfterLogin } = globalThis.account;
const authorization = byId("authorization");
const { clientId, redirectUri, codeChallenge, state, loginHint, unmetUrl } = authorization.dataset;

/** A code is valid for a minute. */
const NEW_CODE_MS = 30 * 1000;
const link = byId("return");

if (loginHint !== undefined) loginForm.elements.email.value = loginHint;

/** The address with which the login returns to the application. */
const requestReturn = async () => {
  if (unmetUrl !== undefined && claimsOf().acr !== "2fa") return unmetUrl;
  const body = { client_id: clientId, redirect_uri: redirectUri, code_challenge: codeChallenge };
  const { code, iss } = await call("POST", "auth/authorize", body);
  const parameters = new URLSearchParams({ code, ...(state !== undefined && { state }), iss });
  return `${redirectUri}${redirectUri.includes("?") ? "&" : "?"}${parameters}`;
};

/** Keeps a valid code in the link, as long as the login is recent. */
const keepLinkValid = () =>
  setTimeout(async () => {
    try {
      link.href = await requestReturn();
      keepLinkValid();
    } catch {
      authorization.hidden = true;
      logOut("You did not return in time. Please log in again.");
    }
  }, NEW_CODE_MS);

shownAfterLogin.push(async () => {
  const url = await requestReturn();
  byId("visitor").hidden = true;
  authorization.hidden = false;
  byId("returning").focus();
  if (link) {
    link.href = url;
    link.addEventListener("click", () => setTimeout(logOut));
    keepLinkValid();
    // The page never shows the account.
  } else location.replace(url);
  await new Promise(() => {});
});
