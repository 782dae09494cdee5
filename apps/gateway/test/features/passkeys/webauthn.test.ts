/** The verification of an authenticator's responses, without a server: the credential or counter, or the reason of a rejection. */
import { expect, test } from "bun:test";
import { createWebauthn } from "../../../src/features/passkeys/webauthn.ts";
import { createAuthenticator, type Deviations, ORIGIN } from "../../support/authenticator.ts";

type Authenticator = ReturnType<typeof createAuthenticator>;

const CHALLENGE = "Y2hhbGxlbmdl";
const OTHER_CHALLENGE = "b3RoZXI";
const { verifyCreation, verifyLogin: verify } = createWebauthn({
  origins: [ORIGIN],
  rpId: "localhost",
  rpName: "Latchkey",
});
/** Logins do not depend on the user handle, which the service compares. */
const verifyLogin = (
  { response: { userHandle, ...response }, ...login }: ReturnType<Authenticator["get"]>,
  challenge: string,
  publicKey?: string,
) => verify({ ...login, response }, challenge, publicKey);

/** An authenticator whose passkey has been created. */
async function created() {
  const authenticator = createAuthenticator();
  const response = authenticator.create({ challenge: CHALLENGE, user: { id: "dXNlcg" } });
  const credential = await verifyCreation(response, CHALLENGE);
  if (typeof credential === "string") throw new Error(`The creation was rejected: ${credential}`);
  return { authenticator, credential };
}

test("a creation returns the id, the public key and the counter, and a login returns its counter", async () => {
  const { authenticator, credential } = await created();
  expect(credential).toEqual({ id: authenticator.id, publicKey: expect.any(String), counter: 0 });
  const response = authenticator.get({ challenge: CHALLENGE }, { counter: 7 });
  expect(await verifyLogin(response, CHALLENGE, credential.publicKey)).toBe(7);
});

test.each([
  ["another origin", { clientData: { origin: "https://evil.example" } }, "origin"],
  ["an embedded page of another origin", { clientData: { crossOrigin: true } }, "origin"],
  ["another relying party", { rpId: "evil.example" }, "response"],
  ["no verification of the user", { flags: 0x01 }, "response"],
] satisfies [string, Deviations, "origin" | "response"][])(
  "creations and logins with %s are rejected",
  async (_case, deviations, reason) => {
    const { authenticator, credential } = await created();
    const creation = createAuthenticator().create({ challenge: CHALLENGE }, deviations);
    expect(await verifyCreation(creation, CHALLENGE)).toBe(reason);
    const login = authenticator.get({ challenge: CHALLENGE }, deviations);
    expect(await verifyLogin(login, CHALLENGE, credential.publicKey)).toBe(reason);
  },
);

test("a response to another challenge is rejected", async () => {
  const { authenticator, credential } = await created();
  const creation = createAuthenticator().create({ challenge: CHALLENGE });
  expect(await verifyCreation(creation, OTHER_CHALLENGE)).toBe("response");
  const login = authenticator.get({ challenge: CHALLENGE });
  expect(await verifyLogin(login, OTHER_CHALLENGE, credential.publicKey)).toBe("response");
});

test("a login with an unknown credential is rejected after a verification", async () => {
  const login = createAuthenticator().get({ challenge: CHALLENGE });
  expect(await verifyLogin(login, CHALLENGE)).toBe("response");
});

test("a creation whose credential has another id than its attestation is rejected", async () => {
  const creation = createAuthenticator().create({ challenge: CHALLENGE }, { attestedId: Buffer.alloc(16) });
  expect(await verifyCreation(creation, CHALLENGE)).toBe("response");
});

test("a signature with bytes after its end, and another spelling of base64url, are rejected", async () => {
  const { authenticator, credential } = await created();
  const login = authenticator.get({ challenge: CHALLENGE });
  const { signature } = login.response;
  const longer = Buffer.concat([Buffer.from(signature, "base64url"), Buffer.alloc(1)]).toString("base64url");
  const { authenticatorData } = login.response;
  // 37 bytes: the last four bits are unused.
  const last = String.fromCharCode(authenticatorData.charCodeAt(authenticatorData.length - 1) + 1);
  const respelled = authenticatorData.slice(0, -1) + last;
  for (const altered of [{ signature: longer }, { authenticatorData: respelled }]) {
    const response = { ...login, response: { ...login.response, ...altered } };
    expect(await verifyLogin(response, CHALLENGE, credential.publicKey)).toBe("response");
  }
});
