/** Unusual tokens: repeated members, unusual JSON, and unusual sizes. */
import { expect, test } from "bun:test";
import { encode, type Forgery, forge, sign } from "../support/forge-token.ts";
import { startService } from "../support/service.ts";

const exp = 4_000_000_000;
const alg = '"alg":"HS256"';

/** The last value of a repeated member counts (RFC 7519 §4), in the header and in the claims. */
const TWICE: Readonly<Record<string, readonly [status: number, forgery: (sub: string) => Forgery]>> = {
  "alg none, then the right one": [200, (sub) => ({ header: `{"alg":"none",${alg}}`, claims: { sub, exp } })],
  "the right alg, then none": [401, (sub) => ({ header: `{${alg},"alg":"none"}`, claims: { sub, exp } })],
  "the right alg, then another": [401, (sub) => ({ header: `{${alg},"alg":"HS512"}`, claims: { sub, exp } })],
  "a past exp, then a future one": [200, (sub) => ({ claims: `{"sub":"${sub}","exp":1,"exp":${exp}}` })],
  "a future exp, then a past one": [401, (sub) => ({ claims: `{"sub":"${sub}","exp":${exp},"exp":1}` })],
  "the sub of no user, then of a user": [
    200,
    (sub) => ({ claims: `{"sub":"424242","sub":"${sub}","exp":${exp}}` }),
  ],
  "the sub of a user, then of no user": [
    404,
    (sub) => ({ claims: `{"sub":"${sub}","sub":"424242","exp":${exp}}` }),
  ],
  "the sub of a user, then a number": [401, (sub) => ({ claims: `{"sub":"${sub}","sub":1,"exp":${exp}}` })],
};

test.each(Object.entries(TWICE))("%s", async (_name, [status, forgery]) => {
  await using service = await startService();
  const { user } = await service.register();
  const token = forge(forgery(String(user.id)));
  expect((await service.call("GET", "/auth/me", { token })).status).toBe(status);
});

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** Every text that a lenient decoder reads as the same bytes as `part`. */
function otherSpellings(part: string): string[] {
  const bytes = Buffer.from(part, "base64url");
  const lastBits = [...ALPHABET].map((last) => part.slice(0, -1) + last);
  const decorated = ["=", "==", "A"].map((suffix) => part + suffix);
  const classic = bytes.toString("base64");
  return [...lastBits, ...decorated, classic].filter(
    (other) => other !== part && Buffer.from(other, "base64url").equals(bytes),
  );
}

test("each part of a token has one accepted spelling: the canonical base64url of its bytes", async () => {
  await using service = await startService();
  const { user } = await service.register();
  // The header ends with four unused bits, the claims and the signature with two.
  const header = encode(`{${alg},"x":12}`);
  const claims = encode(`{"sub":"${user.id}","exp":${exp}}`.padEnd(38));
  const token = sign(`${header}.${claims}`);
  const signature = token.split(".")[2] ?? "";
  const spellings = {
    header: otherSpellings(header).map((other) => sign(`${other}.${claims}`)),
    claims: otherSpellings(claims).map((other) => sign(`${header}.${other}`)),
    signature: otherSpellings(signature).map((other) => `${header}.${claims}.${other}`),
  };
  const statusOf = async (forged: string) =>
    (await service.call("GET", "/auth/me", { headers: { authorization: `Bearer ${forged}` } })).status;
  expect(await statusOf(token)).toBe(200);
  for (const [part, forgeries] of Object.entries(spellings)) {
    expect(forgeries.length).toBeGreaterThanOrEqual(part === "header" ? 15 : 3);
    for (const forged of forgeries) expect([forged, await statusOf(forged)]).toEqual([forged, 401]);
  }
});

test("whitespace in the JSON of a token is accepted", async () => {
  await using service = await startService();
  const { user } = await service.register();
  const claims = `\r\n\t{ "sub" : "${user.id}" ,\n"exp" : ${exp} } `;
  const token = forge({ header: ` {\n${alg} } `, claims });
  expect((await service.call("GET", "/auth/me", { token })).body).toEqual(user);
});

test("a token whose header is longer than 1,024 characters returns 401, regardless of its signature", async () => {
  await using service = await startService();
  const { user } = await service.register();
  const statusOf = async (padding: number) => {
    const header = `{${alg},"x":"${"x".repeat(padding)}"}`;
    const token = forge({ header, claims: { sub: String(user.id), exp } });
    return (await service.call("GET", "/auth/me", { token })).status;
  };
  expect([await statusOf(700), await statusOf(800)]).toEqual([200, 401]);
});

test("a token of 12 KB is verified like any other, and one of 100 KB returns 431", async () => {
  await using service = await startService();
  const { user } = await service.register();
  const tokenOf = (bytes: number) =>
    forge({ claims: { sub: String(user.id), exp, x: "x".repeat((bytes * 3) / 4) } });
  expect((await service.call("GET", "/auth/me", { token: tokenOf(12_000) })).status).toBe(200);
  expect((await service.call("GET", "/auth/me", { token: `${tokenOf(12_000)}A` })).status).toBe(401);
  const refused = await service.raw(
    `GET /auth/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tokenOf(100_000)}\r\n\r\n`,
  );
  expect(refused).toStartWith("HTTP/1.1 431 ");
});
