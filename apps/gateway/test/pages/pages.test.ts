/** The pages, the document and the assets over HTTP: links, compression, caching and policies. */
import { afterAll, describe, expect, test } from "bun:test";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { EVERY_FEATURE, startService } from "../support/service.ts";

const PAGES = ["/docs", "/redoc"];
const ACCOUNT_PAGES = [
  "",
  "/forgot-password",
  "/reset-password",
  "/invitation",
  "/verify-email",
  "/approve-email",
  "/change-email",
].map((name) => `/account${name}`);
const DOCUMENTS = [...PAGES, "/openapi.json"];
const ASSET_PATH = /"(docs\/assets\/[0-9a-f]{24}\/[a-z.-]+)"/g;

describe("documents", async () => {
  const service = await startService({ env: EVERY_FEATURE });
  afterAll(() => service[Symbol.asyncDispose]());
  /** Accepts only the given codings, and does not decompress. */
  const get = (path: string, accepted = "identity", headers: Record<string, string> = {}) =>
    fetch(service.url + path, {
      headers: { "accept-encoding": accepted, ...headers },
      decompress: false,
    });
  const pages = await Promise.all(PAGES.map(async (path) => (await get(path)).text()));
  const assets = [
    ...new Set(pages.flatMap((html) => [...html.matchAll(ASSET_PATH)].map(([, path]) => `/${path}`))),
  ];

  test("the pages load scripts, styles and an icon by the hash of their bytes", async () => {
    expect(assets).toHaveLength(7);
    for (const path of assets) {
      const digest = new Bun.CryptoHasher("sha256").update(await (await get(path)).bytes()).digest("hex");
      expect(digest).toStartWith(path.split("/")[3] ?? "no hash");
    }
  });

  test("the vendors' files are unchanged except for source maps and the one external address", async () => {
    const cut = {
      "swagger-ui.js": ["swagger-ui-dist/swagger-ui-bundle.js", /(?!)/],
      "swagger-ui.css": ["swagger-ui-dist/swagger-ui.css", /\/\*# sourceMappingURL=.*$/],
      "redoc.js": ["redoc/bundles/redoc.standalone.js", /\/\/# sourceMappingURL=.*$/],
    } as const;
    for (const [name, [specifier, sourceMap]] of Object.entries(cut)) {
      const served = await (await get(assets.find((path) => path.endsWith(`/${name}`)) ?? "")).text();
      const original = await Bun.file(fileURLToPath(import.meta.resolve(specifier))).text();
      const expected = original
        .replace(sourceMap, "")
        .replace("https://cdn.redoc.ly/redoc/logo-mini.svg", "data:,");
      expect([name, served === expected, sourceMap.test(served)]).toEqual([name, true, false]);
    }
  });

  test("the pages contain no inline script or style, and name no other host", async () => {
    for (const path of [...PAGES, ...ACCOUNT_PAGES]) {
      expect(await (await get(path)).text()).not.toMatch(
        /<style|<script(?![^>]* src="(?:docs|\.\.\/docs)\/)[^>]*>|\son\w+=|\sstyle=|https?:|"\/\//i,
      );
    }
  });

  test("each page has the strictest policy that works", async () => {
    const policyOf = async (path: string) => (await get(path)).headers.get("content-security-policy");
    const common =
      "default-src 'none'; base-uri 'none'; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; img-src 'self' data:; script-src 'self'; style-src 'self'";
    for (const path of ACCOUNT_PAGES) expect(await policyOf(path)).toBe(common.replace(" data:", ""));
    expect(await policyOf("/docs")).toBe(common);
    expect(await policyOf("/redoc")).toMatch(
      new RegExp(`^${common.replaceAll(/[/*.]/g, "\\$&")}( 'sha256-[\\w+/]{43}='){2}; worker-src blob:$`),
    );
    expect(await policyOf("/openapi.json")).toBe("default-src 'none'; frame-ancestors 'none'");
  });

  test("the pages of accounts name the product and lead back to it, without markup of its name", async () => {
    const env = {
      ...EVERY_FEATURE,
      PRODUCT_NAME: `"A" & <b>Söhne</b>`,
      PRODUCT_URL: "https://app.example.com/?a='<b>&c",
      PRODUCT_COLOR: "#0B5351",
    };
    await using named = await startService({ env });
    const product = "&quot;A&quot; &amp; &lt;b&gt;Söhne&lt;/b&gt;";
    const link = `<a href="https://app.example.com/?a=&#x27;&lt;b&gt;&amp;c">`;
    for (const path of ACCOUNT_PAGES) {
      const html = await (await fetch(named.url + path)).text();
      expect(html).toContain(` – ${product}</title>`);
      expect(html).toContain(`<header><p class="product">${link}${product}</a></p></header>`);
      if (path !== "/account") expect(html).toContain(` ${link}Continue to ${product}</a></p>`);
      expect(html).not.toContain("<b>");
      const [, style] = /href="(\S+account\.css)"/.exec(html) ?? [];
      const css = await (await fetch(new URL(style ?? "", named.url + path))).text();
      expect(css).toStartWith(":root{--primary:#0B5351}\n");
    }
  });

  test("the logo stands for the name and is the icon, served as an image that runs and loads nothing", async () => {
    const content = `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`;
    const logo = { type: "image/svg+xml", content, width: null, height: null } as const;
    await using branded = await startService({
      env: { ...EVERY_FEATURE, PRODUCT_NAME: `"A" & B` },
      configure: (config) => ({ ...config, pages: { ...config.pages, logo } }),
    });
    const html = await (await fetch(`${branded.url}/account`)).text();
    const [, path = ""] = /<img class="logo" src="([^"]+)" alt="&quot;A&quot; &amp; B">/.exec(html) ?? [];
    expect(html).toContain(`<link rel="icon" href="${path}">`);
    const image = await fetch(`${branded.url}/${path}`);
    expect(image.headers.get("content-type")).toBe("image/svg+xml");
    expect(image.headers.get("content-security-policy")).toStartWith("default-src 'none'; ");
    expect(image.headers.get("content-security-policy")).not.toContain("script-src");
    expect(await image.text()).toBe(content);
  });

  test("the former page of passkeys leads to the account", async () => {
    for (const [path, location] of [
      ["/account/passkeys", "../account"],
      ["/account/passkeys/", "../../account"],
    ] as const) {
      const response = await fetch(service.url + path, { redirect: "manual" });
      expect([response.status, response.headers.get("location")]).toEqual([303, location]);
    }
  });

  test("pages and document are revalidated on each use, and assets are cached forever", async () => {
    const cachingOf = async (path: string) => (await get(path)).headers.get("cache-control");
    for (const path of DOCUMENTS) expect(await cachingOf(path)).toBe("no-cache");
    for (const path of assets) expect(await cachingOf(path)).toBe("public, max-age=31536000, immutable");
  });

  test("everything is sent in the coding that the client prefers, with its exact length", async () => {
    const decoders = { br: brotliDecompressSync, gzip: gunzipSync };
    for (const path of [...DOCUMENTS, ...assets]) {
      const plain = await (await get(path)).bytes();
      for (const coding of ["br", "gzip"] as const) {
        const response = await get(path, coding);
        const bytes = await response.bytes();
        expect(response.headers.get("content-encoding")).toBe(coding);
        expect(response.headers.get("content-length")).toBe(String(bytes.byteLength));
        expect(response.headers.get("vary")).toBe("Origin, Accept-Encoding");
        expect(Buffer.compare(decoders[coding](bytes), plain)).toBe(0);
      }
    }
  });

  test.each([
    ["gzip, deflate, br, zstd", "br"],
    ["gzip", "gzip"],
    ["GZIP;Q=1.0", "gzip"],
    ["br;q=0.5, gzip;q=0.8", "gzip"],
    ["br;q=0, gzip;q=0", "identity"],
    ["br;q=0, *", "gzip"],
    ["*", "br"],
    ["*;q=0", "identity"],
    ["gzip;q=", "gzip"],
    ["identity, br;q=0.5", "identity"],
    ["identity;q=0.5, gzip;q=0.5", "gzip"],
    ["", "identity"],
    [";;,=,q", "identity"],
  ])("Accept-Encoding: %s selects %s", async (accepted, coding) => {
    const response = await get("/docs", accepted);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-encoding") ?? "identity").toBe(coding);
  });

  test("a client that has the content gets 304, separately for each coding", async () => {
    for (const path of [...DOCUMENTS, ...assets]) {
      const tags = new Set<string>();
      for (const coding of ["identity", "gzip", "br"]) {
        const full = await get(path, coding);
        const tag = full.headers.get("etag") ?? "";
        tags.add(tag);
        for (const held of [tag, `W/${tag}`, `"other", ${tag}`, "*"]) {
          const response = await get(path, coding, { "if-none-match": held });
          expect([response.status, await response.text()]).toEqual([304, ""]);
          // The headers of a 304 replace those in the cache.
          for (const name of ["etag", "cache-control", "vary", "content-security-policy"]) {
            expect(response.headers.get(name)).toBe(full.headers.get(name));
          }
        }
        expect((await get(path, coding, { "if-none-match": '"other"' })).status).toBe(200);
      }
      expect(tags.size).toBe(3);
    }
  });

  test("no other path exists below /docs/assets", async () => {
    const [known = ""] = assets;
    const name = known.split("/").at(-1);
    const paths = [
      ...["/docs/assets", "/docs/assets/", `/docs/assets/${name}`, `/docs/assets/${"0".repeat(24)}/${name}`],
      ...["/docs/assets/..%2f..%2fpackage.json", "/docs/assets/..\\..\\package.json", `${known}.map`],
      ...[`${known}/..%2f..%2f..%2fpackage.json`, `${known}/../../../../package.json`],
    ];
    for (const path of paths) {
      const response = await service.raw(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      expect([path, response.split("\r\n")[0]]).toEqual([path, "HTTP/1.1 404 Not Found"]);
      expect(response).toEndWith('{"detail":"Not Found","code":"NOT_FOUND"}');
    }
  });

  test("assets do not count against the default quota; pages and document do", async () => {
    const env = { RATE_LIMIT_ENABLED: "true", RATE_LIMIT_DEFAULT: "3/hour" };
    await using limited = await startService({ env });
    const statusOf = async (path: string) => (await limited.request(path)).status;
    for (const path of assets) expect(await statusOf(path)).toBe(200);
    for (const path of DOCUMENTS) expect(await statusOf(path)).toBe(200);
    expect(await statusOf("/docs")).toBe(429);
    for (const path of assets) expect(await statusOf(path)).toBe(200);
    expect(await statusOf("/docs/assets/unknown")).toBe(429);
  });
});
