/** A session at the starter, over HTTP. */
export const EMAIL = "ada@example.com";
export const PASSWORD = "correct horse battery staple";

/** To the server in between, without following redirects. */
export const request = (app: string, path: string, cookie = "", init: RequestInit = {}) =>
  fetch(app + path, {
    ...init,
    headers: { cookie, "content-type": "application/json" },
    redirect: "manual",
  });

/** Logs in over HTTP, as the pages of the service do. Returns the cookie of the session. */
export async function sessionOf(app: string): Promise<string> {
  const cookieOf = (response: Response) => response.headers.getSetCookie().at(-1)?.split(";")[0] ?? "";
  const begun = await request(app, "/login");
  const { origin, searchParams } = new URL(begun.headers.get("location") ?? "");
  const post = async (path: string, body: object, token = ""): Promise<Record<string, string>> => {
    const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
    const response = await fetch(origin + path, { method: "POST", headers, body: JSON.stringify(body) });
    return response.json() as Promise<Record<string, string>>;
  };
  const { access_token = "" } = await post("/auth/login", { email: EMAIL, password: PASSWORD });
  const { state = "", ...parameters } = Object.fromEntries(searchParams);
  const { code = "" } = await post("/auth/authorize", parameters, access_token);
  const query = new URLSearchParams({ state, code });
  return cookieOf(await request(app, `/callback?${query}`, cookieOf(begun)));
}
