/** Serves the OpenAPI document, the two pages that display it, the pages of accounts, and the assets of all pages. */
import { AUTHORIZE_PATH } from "@latchkey/contracts";
import { type Context, Elysia, NotFoundError } from "elysia";
import { mapMembers } from "../map-members.ts";
import { CORS_HEADERS } from "../middleware/cors.ts";
import { createAccountPage } from "./account.ts";
import { type AuthorizePageOptions, authorizePage } from "./authorize.ts";
import { createText, once, serve } from "./content.ts";
import { ACCOUNT_PATH, createLinkPages, RESET_REQUEST_PATH } from "./links.ts";
import type { LoginContext } from "./login.ts";
import { createPage, EXPLORER, REFERENCE, relativeUrl } from "./pages.ts";
import { en } from "./texts/en.ts";

/** The page of accounts exists if the service sends mail, or has passkeys, providers, second factors or hosted login. */
interface PageRoutesOptions extends Omit<LoginContext, "texts"> {
  /** null: hosted login is off. */
  readonly hostedLogin: AuthorizePageOptions["hostedLogin"] | null;
  /** Creates the OpenAPI document as JSON. Called at the first request for the document. */
  readonly createDocument: () => Promise<string>;
}

export function pageRoutes(options: PageRoutesOptions) {
  const { createDocument, assets, product, rules, providers, redirectUris } = options;
  const { hostedLogin } = options;
  const { sendsMail, hasPasskeys, hasIdentities, hasSecondFactor } = rules;
  const card = { product, texts: en, assets, rules };
  const context = { ...card, providers, redirectUris };
  const json = once(async () =>
    createText(await createDocument(), { type: "application/json; charset=utf-8" }),
  );
  const pages = {
    "/docs": EXPLORER,
    "/redoc": REFERENCE,
    ...((sendsMail || hasPasskeys || hasIdentities || hasSecondFactor || hostedLogin) &&
      createAccountPage(context)),
    ...(sendsMail && createLinkPages(card)),
  };
  const contents = mapMembers(pages, (page, path) => createPage(path, page, assets));
  const hidden = { detail: { hide: true } };

  const routes = new Elysia({ name: "documents" })
    .get("/openapi.json", async (context) => serve(await json(), context), hidden)
    .all("/", ({ request, set }) => redirectBrowser(request, set), { ...hidden, parse: "none" });
  const addRedirect = (status: number, path: string, to: string) =>
    routes.get(path, (context) => redirect(status, relativeUrl(context.path, to), context), hidden);
  // https://w3c.github.io/webappsec-change-password-url/
  if (sendsMail) addRedirect(302, "/.well-known/change-password", RESET_REQUEST_PATH);
  // Earlier releases had a page of passkeys.
  if (hasPasskeys) addRedirect(303, "/account/passkeys", ACCOUNT_PATH);
  for (const [path, content] of [...Object.entries(contents), ...assets.contents]) {
    routes.get(
      path,
      // The relative URLs of a page are wrong below a path with a trailing slash, which the router also accepts.
      async (context) =>
        context.path === path
          ? serve(content, context)
          : redirect(308, relativeUrl(context.path, path), context),
      hidden,
    );
  }
  if (hostedLogin) routes.get(AUTHORIZE_PATH, authorizePage({ ...context, hostedLogin }), hidden);
  return routes;
}

/** Redirects clients that accept `text/html` explicitly, as browsers do. Other clients expect an API and get 404. */
function redirectBrowser(request: Request, set: Context["set"]): void {
  set.headers.vary = `${CORS_HEADERS.vary}, Accept`;
  const isRead = request.method === "GET" || request.method === "HEAD";
  if (!isRead || !acceptsHtml(request.headers.get("accept") ?? "")) throw new NotFoundError();
  redirect(303, "docs", { set });
}

/** @param location a relative URL, because a proxy can have removed a prefix of the path */
function redirect(status: number, location: string, { set }: Pick<Context, "set">): void {
  set.status = status;
  set.headers.location = location;
}

/** Whether `accept` contains `text/html`, not a wildcard, with a weight above 0 (RFC 9110 §12.5.1). */
const acceptsHtml = (accept: string): boolean =>
  accept
    .toLowerCase()
    .split(",")
    .map((range) => range.split(";").map((part) => part.trim()))
    .some(
      ([type, ...parameters]) => type === "text/html" && !parameters.some((one) => /^q=0(\.0*)?$/.test(one)),
    );
