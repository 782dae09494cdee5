/**
 * A certified OpenID Connect provider (`oidc-provider`) for tests, in Node. A user logs in with the subject as name, and any
 * password. `PUT /SUBJECT` sets the other claims of the user. Prints its issuer.
 */
import { createServer } from "node:http";
import { Provider } from "oidc-provider";

const server = createServer().listen(Number(process.env.PORT ?? 0), "127.0.0.1", () => {
  const issuer = `http://localhost:${server.address().port}`;
  const claims = new Map();
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: "latchkey",
        client_secret: "a secret of this provider",
        redirect_uris: JSON.parse(process.env.REDIRECT_URIS),
        application_type: "native",
      },
    ],
    pkce: { required: () => true },
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["preferred_username"] },
    findAccount: (_, accountId) => ({
      accountId,
      claims: () => ({ ...claims.get(accountId), sub: accountId }),
    }),
    cookies: { keys: ["a key of this provider"] },
    // An ID token without the e-mail, as the standard says (OpenID Connect Core §5.4): clients read the user info.
    conformIdTokenClaims: true,
  });
  const handle = provider.callback();
  server.on("request", (request, response) => {
    if (request.method !== "PUT") return handle(request, response);
    let text = "";
    request.on("data", (chunk) => (text += chunk));
    request.on("end", () => {
      claims.set(request.url.slice(1), JSON.parse(text));
      response.end();
    });
  });
  process.stdout.write(`${JSON.stringify({ issuer })}\n`);
});
