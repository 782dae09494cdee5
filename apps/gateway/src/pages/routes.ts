/** Serves the OpenAPI document, the two pages that display it, the pages of accounts, and the assets of all pages. */
import { AUTHORIZE_PATH, type Language } from "@latchkey/contracts";
import { type Context, Elysia, NotFoundError } from "elysia";
import { mapMembers } from "../map-members.ts";
import { CORS_HEADERS } from "../middleware/cors.ts";
import { createAccountPage } from "./account.ts";
import { authorizePage } from "./authorize.ts";
import type { CardPages } from "./card.ts";
import { createText, once, serve } from "./content.ts";
import { chooseLanguage, languageVary } from "./language.ts";
import { ACCOUNT_PATH, createLinkPages, RESET_REQUEST_PATH } from "./links.ts";
import type { LoginContext } from "./login.ts";
import { createPage, EXPLORER, REFERENCE, relativeUrl } from "./pages.ts";
import { PAGE_TEXTS } from "./texts/texts.ts";

/** The page of accounts exists if the service sends mail, or a feature adds to the pages. */
interface PageRoutesOptions extends Omit<LoginContext, "texts"> {
  /** Creates the OpenAPI document as JSON. Called at the first request for the document. */
  readonly createDocument: () => Promise<string>;
}

type PageContext = Pick<Context, "request" | "set">;

export function pageRoutes(options: PageRoutesOptions) {
  const { createDocument, assets, product, rules, features, featurePages } = options;
  const { sendsMail, languages } = rules;
  const contextOf = (language: Language): LoginContext => ({
    product,
    texts: PAGE_TEXTS[language],
    assets,
    rules,
    features,
    featurePages,
  });
  const json = once(async () =>
    createText(await createDocument(), { type: "application/json; charset=utf-8" }),
  );
  const create = (pages: CardPages) => mapMembers(pages, (page, path) => createPage(path, page, assets));
  const isAccountOn = sendsMail || featurePages.length > 0;
  const pagesIn = (language: Language): CardPages => ({
    ...(isAccountOn && createAccountPage(contextOf(language))),
    ...(sendsMail && createLinkPages(contextOf(language))),
  });
  const inLanguages = new Map(languages.map((language) => [language, create(pagesIn(language))]));
  const contents = create({ "/docs": EXPLORER, "/redoc": REFERENCE });
  const hidden = { detail: { hide: true } };

  const routes = new Elysia({ name: "documents" })
    .get("/openapi.json", async (context) => serve(await json(), context), hidden)
    .all("/", ({ request, set }) => redirectBrowser(request, set), { ...hidden, parse: "none" });
  const addRedirect = (status: number, path: string, to: string) =>
    routes.get(path, (context) => redirect(status, relativeUrl(context.path, to), context), hidden);
  // https://w3c.github.io/webappsec-change-password-url/
  if (sendsMail) addRedirect(302, "/.well-known/change-password", RESET_REQUEST_PATH);
  for (const { formerPath } of featurePages)
    if (formerPath !== undefined) addRedirect(303, formerPath, ACCOUNT_PATH);
  const addPage = (path: string, respond: (context: PageContext) => Promise<Blob | Uint8Array | undefined>) =>
    routes.get(
      path,
      // The relative URLs of a page are wrong below a path with a trailing slash, which the router also accepts.
      async (context) =>
        context.path === path ? respond(context) : redirect(308, relativeUrl(context.path, path), context),
      hidden,
    );
  for (const [path, content] of [...Object.entries(contents), ...assets.contents])
    addPage(path, (context) => serve(content, context));
  const chosenBy = languageVary(languages);
  for (const path of Object.keys(pagesIn(languages[0])))
    addPage(path, async (context) => {
      const content = inLanguages.get(chooseLanguage(context.request, languages))?.[path];
      return content && serve(content, context, chosenBy);
    });
  for (const { hostedLogin } of featurePages) {
    if (!hostedLogin) continue;
    const logins = new Map(
      languages.map((language) => [language, authorizePage({ ...contextOf(language), hostedLogin })]),
    );
    const logIn = (context: PageContext & Pick<Context, "path">) => {
      if (chosenBy !== null) context.set.headers.vary = `${CORS_HEADERS.vary}, ${chosenBy}`;
      return logins.get(chooseLanguage(context.request, languages))?.(context);
    };
    routes.get(AUTHORIZE_PATH, logIn, hidden);
  }
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
