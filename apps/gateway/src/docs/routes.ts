/** HTTP for the documents: the OpenAPI document, the two pages that show it, and what these load. */
import { swagger } from "@elysiajs/swagger";
import { type AnyElysia, Elysia } from "elysia";
import type { Assets } from "./assets.ts";
import { type Content, createText, serve } from "./content.ts";
import { completeDocument, type DescribedRoutes } from "./document.ts";
import { createPage, EXPLORER, REFERENCE } from "./pages.ts";

export interface DocumentRoutesOptions {
  /** The routes to document, without the layers around them. */
  readonly features: AnyElysia;
  readonly assets: Assets;
}

export function documentRoutes({ features, assets }: DocumentRoutesOptions) {
  const document = createDocument(features);
  const explorer = createPage(EXPLORER, assets);
  const reference = createPage(REFERENCE, assets);
  // Not documented: these are the document.
  const hidden = { detail: { hide: true } };

  const routes = new Elysia({ name: "documents" })
    .get("/openapi.json", async (context) => serve(await document, context), hidden)
    .get("/docs", (context) => serve(explorer, context), hidden)
    .get("/redoc", (context) => serve(reference, context), hidden);
  for (const [path, content] of assets.contents) {
    routes.get(path, (context) => serve(content, context), hidden);
  }
  return routes;
}

/** Asks the routes once; a route that cannot be described ends the start, not a request. */
async function createDocument(features: AnyElysia): Promise<Content> {
  const specPath = "/openapi.json";
  const described = new Elysia().use(features).use(swagger({ specPath }));
  const answer = await described.handle(new Request(`http://localhost${specPath}`));
  const document = completeDocument((await answer.json()) as DescribedRoutes);
  return createText(JSON.stringify(document), { type: "application/json; charset=utf-8" });
}
