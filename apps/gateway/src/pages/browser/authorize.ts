/**
 * Logs in for an application: gets a code with the token of the login, and leads back to the application. The service has checked the
 * attributes of the page. The token is only in memory, and forgotten when the page is left, so the page always logs in anew.
 */
import { createClient } from "@latchkey/client";
import { createFactorSection } from "./factor-section.ts";
import { activateReveals, messageOf, resetForms } from "./forms.ts";
import { startLogin } from "./login.ts";
import { find, get, ROOT, setHidden, setText, texts } from "./page.ts";
import { claimsOf } from "./session.ts";
import { pendingAuthorization } from "./tab.ts";
import { createUserView, learnWay, showUser } from "./user-view.ts";

activateReveals();
const authorization = get("authorization");
const {
  clientId = "",
  redirectUri = "",
  codeChallenge = "",
  state,
  loginHint,
  unmetUrl,
} = authorization.dataset;
const link = find<HTMLAnchorElement>("return");
/** A code is valid for a minute. */
const NEW_CODE_MS = 30 * 1000;

const hasFactor = (token: string | undefined): boolean => claimsOf(token).acr === "2fa";
const client = createClient({
  baseUrl: ROOT,
  onTokenChange: (token) => setHidden("without-factor", hasFactor(token)),
});

const leave = (): void => pendingAuthorization.write({ address: location.href });
const login = startLogin({
  client,
  async onLogin(way) {
    learnWay(way);
    if (unmetUrl !== undefined && !hasFactor(client.token)) await beginEnrolment();
    else await goBack();
  },
  isRegistration: authorization.dataset.prompt === "create",
  providerPage: `${ROOT}account`,
  onLeave: leave,
});

async function goBack(): Promise<void> {
  const url = await requestReturn();
  login.hide();
  setHidden("user", true);
  authorization.hidden = false;
  get("returning").focus();
  if (link) {
    link.href = url;
    keepLinkValid(link);
  } else {
    client.logout();
    location.replace(url);
  }
}

const view = createUserView(client, () => {});
const factor = createFactorSection(view, logOut, () => {
  goBack().catch((error) => logOut(messageOf(error)));
});

/** The application asks for a second factor, which the user does not have. */
async function beginEnrolment(): Promise<void> {
  await factor.show?.();
  showUser(undefined);
  login.hide();
  get("user").hidden = false;
  get<HTMLDetailsElement>("factor-section").open = true;
  get("welcome").focus();
}

/** The address with which the login returns to the application. */
async function requestReturn(): Promise<string> {
  const { code, iss } = await client.authorize({
    client_id: clientId,
    redirect_uri: redirectUri,
    code_challenge: codeChallenge,
  });
  const parameters = new URLSearchParams({ code, ...(state !== undefined && { state }), iss });
  return `${redirectUri}${redirectUri.includes("?") ? "&" : "?"}${parameters}`;
}

function logOut(reason = ""): void {
  client.logout();
  factor.clear?.();
  setHidden("user", true);
  authorization.hidden = true;
  resetForms();
  login.show();
  setText("status", reason);
}

/** Keeps a valid code in the link, as long as the login is recent. */
function keepLinkValid(link: HTMLAnchorElement): void {
  setTimeout(async () => {
    if (client.token === undefined) return;
    try {
      link.href = await requestReturn();
      keepLinkValid(link);
    } catch {
      logOut(texts.late);
    }
  }, NEW_CODE_MS);
}

find("forgotten")?.addEventListener("click", leave);
link?.addEventListener("click", () => setTimeout(logOut));
// A page in the back-forward cache keeps its memory and its text.
addEventListener("pagehide", () => logOut());

if (loginHint !== undefined) get<HTMLInputElement>("email").value = loginHint;
const { response } = pendingAuthorization.read() ?? {};
pendingAuthorization.write(null);
if (response) void login.finishProvider(response);
else login.show();
