/** On Node with jose. Arguments: URL of the key set, issuer, audience, tokens. Prints the `sub` of each token, null if it is invalid. */
import { createRemoteJWKSet, jwtVerify } from "jose";

const [url, issuer, audience, ...tokens] = process.argv.slice(2);
const keys = createRemoteJWKSet(new URL(url));
const subjects = tokens.map((token) =>
  jwtVerify(token, keys, { issuer, audience, algorithms: ["ES256", "EdDSA"] }).then(
    ({ payload }) => payload.sub,
    () => null,
  ),
);
process.stdout.write(JSON.stringify(await Promise.all(subjects)));
