/** The operator's applications that send users to the pages of the service to log in. They are public clients: nothing is secret. */
import { isLocalHttp, LABEL, PRIVATE_SCHEME, parseJson } from "./oidc-providers.ts";
import { invalid, type Kind } from "./variable-kinds.ts";

export interface LoginClient {
  readonly clientId: string;
  /** Users read it before they return to the application. */
  readonly name: string;
  /** Compared character by character, except the port of a loopback address. */
  readonly redirectUris: readonly string[];
}

/** RFC 6749, appendix A.1, without the space. */
const CLIENT_ID = /^[\x21-\x7e]{1,128}$/;
const REDIRECT_URI_MAX_LENGTH = 500;

/** Whether a browser goes exactly where the text says, and no other program on the internet can answer for its host. */
const isRedirectUri = (uri: unknown): boolean => {
  if (typeof uri !== "string" || uri.length > REDIRECT_URI_MAX_LENGTH) return false;
  const url = URL.parse(uri);
  if (url?.href !== uri || uri.includes("#") || url.username !== "" || url.password !== "") return false;
  return url.protocol === "https:" || isLocalHttp(uri) || PRIVATE_SCHEME.test(uri);
};

const MEMBERS: Readonly<Record<string, (value: unknown) => boolean>> = {
  client_id: (value) => typeof value === "string" && CLIENT_ID.test(value),
  name: (value) => typeof value === "string" && LABEL.test(value),
  redirect_uris: (value) => Array.isArray(value) && value.length > 0 && value.every(isRedirectUri),
};

interface ParsedClient {
  readonly client_id: string;
  readonly name: string;
  readonly redirect_uris: readonly string[];
}

/** The cast is safe because `MEMBERS` checks every member. */
const asClient = (entry: unknown, index: number): ParsedClient => {
  const members = typeof entry === "object" && entry !== null ? new Map(Object.entries(entry)) : new Map();
  const wrong = Object.keys(MEMBERS).find((name) => !MEMBERS[name]?.(members.get(name)));
  if (wrong !== undefined) return invalid(`has an entry ${index + 1} whose ${wrong} is missing or not valid`);
  const hasOthers = [...members.keys()].some((name) => !Object.hasOwn(MEMBERS, name));
  return hasOthers ? invalid(`has an entry ${index + 1} with an unknown member`) : (entry as ParsedClient);
};

export const loginClients: Kind<readonly LoginClient[]> = {
  accepted:
    'a JSON array such as [{"client_id": "web", "name": "Example", "redirect_uris": ["https://app.example.com/callback"]}]. A redirect URI has no fragment, and is https, http on this machine, or of a scheme with a dot',
  parse: (text) => {
    const list = parseJson(text);
    if (!Array.isArray(list) || list.length === 0) return invalid("is not a JSON array of clients");
    const clients = list.map(asClient);
    if (new Set(clients.map(({ client_id }) => client_id)).size < clients.length)
      return invalid("has two entries with the same client_id");
    return clients.map(({ client_id, name, redirect_uris }) => ({
      clientId: client_id,
      name,
      redirectUris: redirect_uris,
    }));
  },
};
