/** A provider over HTTP whose responses a test chooses, for what a certified provider never sends. */
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";

export const CLIENT = { client_id: "latchkey", client_secret: "a secret of this provider" } as const;

export interface ProviderReplies {
  /** Claims in addition to those of a valid ID token, or in place of them; undefined removes one. */
  readonly claims?: Readonly<Record<string, unknown>>;
  /** Claims of the user info endpoint. @default none: the endpoint returns 404 */
  readonly userInfo?: Readonly<Record<string, unknown>>;
  /** Replaces the ID token. */
  readonly signIdToken?: (claims: JWTPayload, keys: ProviderKeys) => string | Promise<string>;
  /** Replaces the response to any request. */
  readonly respond?: (path: string, request: Request) => Response | undefined | Promise<Response | undefined>;
  /** Members of the metadata, or in place of them. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface ProviderKeys {
  readonly privateKey: CryptoKey;
  readonly publicJwk: object;
}

export type HostileProvider = Awaited<ReturnType<typeof startHostileProvider>>;

export async function startHostileProvider() {
  const { privateKey, publicKey } = await generateKeyPair("RS256", { extractable: true });
  const publicJwk = { ...(await exportJWK(publicKey)), alg: "RS256", use: "sig", kid: "one" };
  /** By code: the parameters of the authorization request that got the code, and the replies. */
  const codes = new Map<string, { readonly url: URL; readonly replies: ProviderReplies }>();
  let always: ProviderReplies = {};
  let requests = 0;

  const metadata = () => ({
    issuer: server.url.origin,
    authorization_endpoint: `${server.url.origin}/authorize`,
    token_endpoint: `${server.url.origin}/token`,
    userinfo_endpoint: `${server.url.origin}/userinfo`,
    jwks_uri: `${server.url.origin}/jwks`,
    response_types_supported: ["code"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256"],
    authorization_response_iss_parameter_supported: true,
    ...always.metadata,
  });

  const issue = async (body: URLSearchParams): Promise<Response> => {
    const found = codes.get(body.get("code") ?? "");
    codes.delete(body.get("code") ?? "");
    const challenge = new Bun.CryptoHasher("sha256")
      .update(body.get("code_verifier") ?? "")
      .digest("base64url");
    const isValid =
      found?.url.searchParams.get("code_challenge") === challenge &&
      found.url.searchParams.get("redirect_uri") === body.get("redirect_uri");
    if (!found || !isValid) return Response.json({ error: "invalid_grant" }, { status: 400 });
    const { url, replies } = found;
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      ...{ iss: server.url.origin, aud: CLIENT.client_id, sub: "1", iat: now, exp: now + 60 },
      ...{ nonce: url.searchParams.get("nonce") ?? "", email: "ada@example.org", email_verified: true },
      ...replies.claims,
    };
    const sign = (one: JWTPayload) =>
      new SignJWT(one).setProtectedHeader({ alg: "RS256", kid: "one" }).sign(privateKey);
    const idToken = replies.signIdToken
      ? await replies.signIdToken(claims, { privateKey, publicJwk })
      : await sign(claims);
    return Response.json({ access_token: body.get("code"), token_type: "bearer", id_token: idToken });
  };

  const authorize = (authorizationUrl: string, replies: ProviderReplies = {}): string => {
    const code = crypto.randomUUID();
    codes.set(code, { url: new URL(authorizationUrl), replies });
    return code;
  };
  /** What a browser gets: the user logs in at once. */
  const redirect = (authorizationUrl: string): Response => {
    const { searchParams } = new URL(authorizationUrl);
    const page = new URL(searchParams.get("redirect_uri") ?? "");
    const state = searchParams.get("state") ?? "";
    const parameters = { code: authorize(authorizationUrl, always), state, iss: server.url.origin };
    for (const [name, value] of Object.entries(parameters)) page.searchParams.set(name, value);
    return Response.redirect(page.href);
  };

  const server = Bun.serve({
    hostname: "localhost",
    port: 0,
    async fetch(request): Promise<Response> {
      requests += 1;
      const { pathname } = new URL(request.url);
      const replaced = await always.respond?.(pathname, request);
      if (replaced) return replaced;
      if (pathname === "/.well-known/openid-configuration") return Response.json(metadata());
      if (pathname === "/authorize") return redirect(request.url);
      if (pathname === "/jwks") return Response.json({ keys: [publicJwk] });
      if (pathname === "/token") return issue(new URLSearchParams(await request.text()));
      if (pathname === "/userinfo" && always.userInfo) return Response.json(always.userInfo);
      return new Response(null, { status: 404 });
    },
  });

  return {
    issuer: server.url.origin,
    requests: () => requests,
    /** Sets the replies that do not belong to one code. */
    reply: (replies: ProviderReplies) => {
      always = replies;
    },
    /** The user has logged in at the provider. Returns the code of the redirect. */
    authorize,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}
