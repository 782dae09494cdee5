/**
 * Reads the address of the page on which users of an application log in (RFC 6749 §4.1.1, RFC 7636 §4.3). Invariant: until the client
 * and its redirect URI are known, nothing leads away from the service, so that nobody can use it to redirect to another page.
 */
import type { LoginClient } from "@latchkey/config";
import { CODE_CHALLENGE_PATTERN, EMAIL_MAX_LENGTH } from "@latchkey/contracts";
import { findRedirectUri } from "../redirect-uris.ts";

export interface AuthorizationServer {
  readonly clients: readonly LoginClient[];
  readonly issuer: string;
  readonly hasSecondFactor: boolean;
}

/** Where the page leads back to. */
export interface Return {
  readonly client: LoginClient;
  readonly redirectUri: string;
  /** undefined: the client sent none, several, or one that is too long. */
  readonly state: string | undefined;
  /**
   * Whether a page shows the name of the application, and the user clicks: another program on the user's machine can have the scheme
   * or the port.
   */
  readonly isClicked: boolean;
}

export interface AuthorizationRequest extends Return {
  readonly kind: "request";
  readonly challenge: string;
  readonly loginHint: string | undefined;
  readonly requiresSecondFactor: boolean;
  /** Whether the page shows the registration first. */
  readonly isRegistration: boolean;
}

export type ReadRequest =
  | AuthorizationRequest
  /** An error for the application. */
  | { readonly kind: "error"; readonly url: string; readonly to: Return }
  /** An error for the user. `problem` is a sentence for the developers of the application. */
  | { readonly kind: "page"; readonly problem: string };

const STATE_MAX_LENGTH = 1024;
const LEADING_BACK = ["client_id", "redirect_uri"] as const;
const READ = [
  ...["response_type", "state", "scope", "code_challenge", "code_challenge_method"],
  ...["login_hint", "acr_values", "max_age", "prompt"],
] as const;
type Name = (typeof LEADING_BACK)[number] | (typeof READ)[number];

/** @param query with or without the question mark */
export function readAuthorizationRequest(query: string, server: AuthorizationServer): ReadRequest {
  const sent = new URLSearchParams(query);
  const isRepeated = (name: Name): boolean => sent.getAll(name).length > 1;
  const ambiguous = LEADING_BACK.find(isRepeated);
  if (ambiguous !== undefined) return page(`The parameter ${ambiguous} is repeated.`);
  // A parameter without a value counts as absent (RFC 6749 §3.1).
  const get = (name: Name): string | undefined => sent.get(name) || undefined;
  const client = server.clients.find(({ clientId }) => clientId === get("client_id"));
  if (!client) return page("The client_id is not configured.");
  const redirectUri = get("redirect_uri");
  if (redirectUri === undefined || findRedirectUri(client.redirectUris, redirectUri) === undefined)
    return page("The redirect_uri is not one of the client's.");
  const state = get("state");
  const isStateValid = !isRepeated("state") && (state === undefined || [...state].length <= STATE_MAX_LENGTH);
  const to: Return = {
    client,
    redirectUri,
    state: isStateValid ? state : undefined,
    isClicked: !redirectUri.startsWith("https:"),
  };
  const acrValues = get("acr_values")?.split(" ") ?? [];
  const challenge = get("code_challenge") ?? "";
  const isReadable = isStateValid && !READ.some(isRepeated);
  const error = isReadable ? errorOf(get, acrValues, server) : "invalid_request";
  if (error !== null) return { kind: "error", to, url: errorUrl(to, error, server.issuer) };
  const loginHint = get("login_hint");
  return {
    kind: "request",
    ...to,
    challenge,
    loginHint: loginHint !== undefined && loginHint.length <= EMAIL_MAX_LENGTH ? loginHint : undefined,
    requiresSecondFactor: acrValues.includes("2fa") && !acrValues.includes("1fa"),
    isRegistration: get("prompt") === "create",
  };
}

const page = (problem: string) => ({ kind: "page", problem }) as const;

const CHALLENGE = new RegExp(CODE_CHALLENGE_PATTERN);

/** Returns the error of a request whose client and redirect URI are right; null if it is valid. */
function errorOf(
  get: (name: Name) => string | undefined,
  acrValues: readonly string[],
  { hasSecondFactor }: AuthorizationServer,
): string | null {
  const responseType = get("response_type");
  if (responseType === undefined) return "invalid_request";
  if (responseType !== "code") return "unsupported_response_type";
  // The client expects an ID token, which this service does not issue.
  if (get("scope")?.split(" ").includes("openid")) return "invalid_scope";
  if (get("code_challenge_method") !== "S256" || !CHALLENGE.test(get("code_challenge") ?? ""))
    return "invalid_request";
  if (!/^\d{0,10}$/.test(get("max_age") ?? "")) return "invalid_request";
  const isMet =
    acrValues.length === 0 || acrValues.some((one) => one === "1fa" || (one === "2fa" && hasSecondFactor));
  return isMet ? null : "unmet_authentication_requirements";
}

/** The address with which an error returns to the application (RFC 6749 §4.1.2.1, RFC 9207). */
export function errorUrl({ redirectUri, state }: Return, error: string, issuer: string): string {
  const parameters = new URLSearchParams({ error, ...(state !== undefined && { state }), iss: issuer });
  return `${redirectUri}${redirectUri.includes("?") ? "&" : "?"}${parameters}`;
}
