/**
 * The page on which users of an application log in. It always logs in anew, whatever token the tab has, and leads back to the
 * application with a code or an error.
 */
import { AUTHORIZE_PATH } from "@latchkey/contracts";
import type { Context } from "elysia";
import type { AssetName } from "./assets.ts";
import {
  type AuthorizationRequest,
  errorUrl,
  type Return,
  readAuthorizationRequest,
} from "./authorization-request.ts";
import { createCard } from "./card.ts";
import type { HostedLoginPage } from "./feature-pages.ts";
import { type LoginContext, loginSteps } from "./login.ts";
import { createPage, type PageOptions, relativeUrl } from "./pages.ts";
import { section } from "./section.ts";
import type { PageTexts } from "./texts/en.ts";

export interface AuthorizePageOptions extends LoginContext {
  readonly hostedLogin: HostedLoginPage;
}

type RouteContext = Pick<Context, "request" | "set" | "path">;

/** Returns the handler of the page. The page depends on the address, so it is neither cached nor compressed. */
export function authorizePage(options: AuthorizePageOptions) {
  const { assets, hostedLogin, texts } = options;
  const { title } = texts.authorize;
  const server = { ...hostedLogin, hasSecondFactor: options.features.has("secondFactor") };

  const show = (set: Context["set"], status: number, page: PageOptions) => {
    const { identity, headers, type } = createPage(AUTHORIZE_PATH, page, assets);
    set.status = status;
    Object.assign(set.headers, headers, { "content-type": type });
    return identity;
  };
  const redirect = (set: Context["set"], status: number, location: string) => {
    set.status = status;
    set.headers.location = location;
  };

  return ({ request, set, path }: RouteContext) => {
    const { search } = new URL(request.url);
    // The relative URLs of the page are wrong below a path with a trailing slash, which the router also accepts.
    if (path !== AUTHORIZE_PATH) return redirect(set, 308, relativeUrl(path, AUTHORIZE_PATH) + search);
    const read = readAuthorizationRequest(search, server);
    if (read.kind === "page")
      return show(set, 400, cardOf(options, title, problemContent(texts, read.problem)));
    if (read.kind === "error")
      return read.to.isClicked
        ? show(set, 400, cardOf(options, title, returnContent(texts, read.to, read.url)))
        : redirect(set, 303, read.url);
    return show(set, 200, loginCard(read, options));
  };
}

const cardOf = (
  { product, texts, assets }: LoginContext,
  title: string,
  content: string,
  script?: AssetName,
): PageOptions =>
  createCard({
    product,
    texts,
    assets,
    path: AUTHORIZE_PATH,
    title,
    content,
    ...(script && { script }),
  });

const problemContent = (
  { authorize }: PageTexts,
  problem: string,
): string => `<h1>${authorize.problemTitle}</h1>
<p role="alert" class="problem">${authorize.problem}</p>
<p class="rule">${authorize.forDevelopers} ${Bun.escapeHTML(problem)}</p>`;

const linkTo = ({ authorize }: PageTexts, { client }: Return, url: string, attributes = ""): string =>
  `<a${attributes} href="${Bun.escapeHTML(url)}">${authorize.returnTo(Bun.escapeHTML(client.name))}</a>`;

const returnContent = (
  texts: PageTexts,
  to: Return,
  url: string,
): string => `<h1>${texts.authorize.errorTitle}</h1>
<p role="alert" class="problem">${texts.authorize.error}</p>
<p>${linkTo(texts, to, url)}</p>`;

const UNMET = "unmet_authentication_requirements";

/** Shown to a user who has no second factor, but the application asks for one. */
const enrolment = (options: AuthorizePageOptions, name: string, unmetUrl: string): string => {
  const { authorize } = options.texts;
  const sections = options.featurePages.flatMap((pages) => pages.enrolment?.(options, AUTHORIZE_PATH) ?? []);
  return `<div id="user" hidden>
<h1 id="welcome" tabindex="-1">${authorize.enrol(name)}</h1>
${sections.map(section).join("\n")}
<p class="others"><a id="without-factor" href="${Bun.escapeHTML(unmetUrl)}">${authorize.withoutFactor(name)}</a></p>
</div>`;
};

/** The script reads the request from the attributes, which the service has checked, not from the address. */
function loginCard(read: AuthorizationRequest, options: AuthorizePageOptions): PageOptions {
  const { client, redirectUri, challenge, state, loginHint, requiresSecondFactor, isClicked } = read;
  const name = Bun.escapeHTML(client.name);
  const unmetUrl = requiresSecondFactor ? errorUrl(read, UNMET, options.hostedLogin.issuer) : undefined;
  const data = {
    "client-id": client.clientId,
    "redirect-uri": redirectUri,
    "code-challenge": challenge,
    state,
    "login-hint": loginHint,
    "unmet-url": unmetUrl,
    // Where nobody can register, the page shows the login.
    prompt: read.isRegistration && options.rules.acceptsRegistrations ? "create" : undefined,
  };
  const attributes = Object.entries(data)
    .flatMap(([key, value]) => (value === undefined ? [] : [` data-${key}="${Bun.escapeHTML(value)}"`]))
    .join("");
  const { texts } = options;
  const { authorize } = texts;
  return cardOf(
    options,
    authorize.title,
    `<div id="authorization"${attributes} hidden>
<h1 id="returning" tabindex="-1">${isClicked ? authorize.loggedIn : authorize.returning(name)}</h1>
${isClicked ? `<p>${linkTo(texts, read, "", ` id="return"`)}</p>` : ""}
</div>
<p class="status" id="status" role="status" tabindex="-1"></p>
${unmetUrl === undefined ? "" : enrolment(options, name, unmetUrl)}
${loginSteps(options, { path: AUTHORIZE_PATH, title: authorize.heading(name) })}`,
    "authorize.js",
  );
}
