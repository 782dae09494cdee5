/** Serves the OpenAPI document, the two pages that display it, and the assets of these pages. */
import { swagger } from "@elysiajs/swagger";
import { type AnyElysia, Elysia } from "elysia";
import { completeDocument, type DescribedRoutes } from "./document.ts";
import type { Assets } from "./pages/assets.ts";
import { type Content, createText, serve } from "./pages/content.ts";
import { createPage, EXPLORER, REFERENCE } from "./pages/pages.ts";

interface DocumentRoutesOptions {
  /** The routes to document, without middleware. */
  readonly features: AnyElysia;
  readonly assets: Assets;
}

export function documentRoutes({ features, assets }: DocumentRoutesOptions) {
  const document = createDocument(features);
  const explorer = createPage(EXPLORER, assets);
  const reference = createPage(REFERENCE, assets);
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

/** Runs once at startup; a route that cannot be described is a startup error. */
async function createDocument(features: AnyElysia): Promise<Content> {
  const specPath = "/openapi.json";
  const described = new Elysia().use(features).use(swagger({ specPath }));
  const response = await described.handle(new Request(`http://localhost${specPath}`));
  const document = completeDocument((await response.json()) as DescribedRoutes);
  return createText(JSON.stringify(document), { type: "application/json; charset=utf-8" });
}
