/** Unusual spellings of a token. */
import { expect, test } from "bun:test";
import { encode, sign } from "../support/forge-token.ts";
import { startService } from "../support/service.ts";

const exp = 4_000_000_000;

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
  const header = encode(`{"alg":"HS256","x":12}`);
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
