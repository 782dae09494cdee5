/**
 * A certified OpenID Connect provider (`oidc-provider`) for tests, in Node. A user logs in with a name that is a JSON object in
 * base64url, whose members are the claims. Prints its issuer.
 */
import { createServer } from "node:http";
import { Provider } from "oidc-provider";

const server = createServer().listen(Number(process.env.PORT ?? 0), "127.0.0.1", () => {
  const issuer = `http://localhost:${server.address().port}`;
  const claimsOf = (id) => JSON.parse(Buffer.from(id, "base64url").toString());
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
    findAccount: (_, accountId) => ({ accountId, claims: () => claimsOf(accountId) }),
    cookies: { keys: ["a key of this provider"] },
    // An ID token without the e-mail, as the standard says (OpenID Connect Core §5.4): clients read the user info.
    conformIdTokenClaims: true,
  });
  server.on("request", provider.callback());
  process.stdout.write(`${JSON.stringify({ issuer })}\n`);
});
