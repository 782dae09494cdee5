/**
 * The page on which users of an application log in. It always logs in anew, whatever token the tab has, and leads back to the
 * application with a code or an error.
 */
import type { LoginClient } from "@latchkey/config";
import { AUTHORIZE_PATH } from "@latchkey/contracts";
import type { Context } from "elysia";
import { type AccountPageOptions, createAccountCard } from "./account.ts";
import type { Assets } from "./assets.ts";
import {
  type AuthorizationRequest,
  errorUrl,
  type Return,
  readAuthorizationRequest,
} from "./authorization-request.ts";
import { createCard } from "./card.ts";
import { createPage, type PageOptions, relativeUrl } from "./pages.ts";

export interface AuthorizePageOptions extends AccountPageOptions {
  readonly hostedLogin: { readonly clients: readonly LoginClient[]; readonly issuer: string };
  readonly assets: Assets;
}

type RouteContext = Pick<Context, "request" | "set" | "path">;

/** Returns the handler of the page. The page depends on the address, so it is neither cached nor compressed. */
export function authorizePage(options: AuthorizePageOptions) {
  const { assets, product, hostedLogin } = options;
  const server = { ...hostedLogin, hasSecondFactor: options.rules.hasSecondFactor };
  const cardOf = (title: string, content: string) =>
    createCard({ ...{ path: AUTHORIZE_PATH, title, product, content }, scripts: [] });

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
    if (read.kind === "page") return show(set, 400, cardOf("Log in", problemContent(read.problem)));
    if (read.kind === "error")
      return read.to.isClicked
        ? show(set, 400, cardOf("Log in", returnContent(read.to, read.url)))
        : redirect(set, 303, read.url);
    return show(set, 200, loginCard(read, options));
  };
}

const problemContent = (problem: string): string => `<h1>This link does not work</h1>
<p role="alert" class="problem">The application that sent you here must be corrected. Nobody is logged in.</p>
<p class="rule">For its developers: ${Bun.escapeHTML(problem)}</p>`;

const linkTo = ({ client }: Return, url: string, attributes = ""): string =>
  `<a${attributes} href="${Bun.escapeHTML(url)}">Return to ${Bun.escapeHTML(client.name)}</a>`;

const returnContent = (to: Return, url: string): string => `<h1>You are not logged in</h1>
<p role="alert" class="problem">The application that sent you here must be corrected.</p>
<p>${linkTo(to, url)}</p>`;

/** The script reads the request from the attributes, which the service has checked, not from the address. */
function loginCard(read: AuthorizationRequest, options: AuthorizePageOptions): PageOptions {
  const { client, redirectUri, challenge, state, loginHint, requiresSecondFactor, isClicked } = read;
  const name = Bun.escapeHTML(client.name);
  const data = {
    "client-id": client.clientId,
    "redirect-uri": redirectUri,
    "code-challenge": challenge,
    state,
    "login-hint": loginHint,
    "unmet-url": requiresSecondFactor
      ? errorUrl(read, "unmet_authentication_requirements", options.hostedLogin.issuer)
      : undefined,
    prompt: read.isRegistration ? "create" : undefined,
  };
  const attributes = Object.entries(data)
    .flatMap(([key, value]) => (value === undefined ? [] : [` data-${key}="${Bun.escapeHTML(value)}"`]))
    .join("");
  return createAccountCard(options, {
    path: AUTHORIZE_PATH,
    title: "Log in",
    heading: `Log in to continue to ${name}`,
    before: `<div id="authorization"${attributes} hidden>
<h1 id="returning" tabindex="-1">${isClicked ? "You are logged in" : `Returning to ${name}…`}</h1>
${isClicked ? `<p>${linkTo(read, "", ` id="return"`)}</p>` : ""}
</div>
`,
    scripts: ["authorize.js"],
  });
}
