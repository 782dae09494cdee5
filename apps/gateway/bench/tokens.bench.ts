/**
 * Measures tokens by algorithm: the time to sign one, to verify its signature, and to verify it again, when its payload is
 * known. In one thread, interleaved.
 */
import { describeMachine } from "@latchkey/cli";
import { createKeyPair, SECRET_KEY } from "@latchkey/testing/keys";
import { parseConfig } from "../src/config.ts";
import { createTokens } from "../src/middleware/bearer-auth.ts";
import { importTokenKeys } from "../src/token-keys.ts";
import { parseOptions, print } from "./support/options.ts";
import { median } from "./support/rank-test.ts";

const options = parseOptions({ rounds: 7, tokens: 2_000 });

const withPrivateKey = (algorithm: "ES256" | "EdDSA") => ({
  AUTH_ALGORITHM: algorithm,
  AUTH_PRIVATE_KEY: createKeyPair(algorithm).privatePem,
});
/** The second one also has every other kind of key, as during a change of the algorithm. */
const CONFIGURATIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  HS256: { AUTH_SECRET_KEY: SECRET_KEY },
  "HS256, three keys": {
    AUTH_SECRET_KEY: SECRET_KEY,
    AUTH_SECRET_KEY_PREVIOUS: `${SECRET_KEY}x`,
    AUTH_NEXT_PUBLIC_KEY: createKeyPair("EdDSA").publicPem,
  },
  ES256: withPrivateKey("ES256"),
  EdDSA: withPrivateKey("EdDSA"),
};

async function createCandidate(variables: Readonly<Record<string, string>>) {
  const { auth } = parseConfig(variables, { kernels: [], isTerminal: false, readFile: () => "" });
  const keys = await importTokenKeys({ ...auth, openSecretKey: () => SECRET_KEY });
  return {
    ...createTokens({ ...auth, keys }),
    microseconds: { signed: [] as number[], verified: [] as number[], verifiedAgain: [] as number[] },
  };
}

const candidates = await Promise.all(
  Object.entries(CONFIGURATIONS).map(async ([name, variables]) => ({
    name,
    ...(await createCandidate(variables)),
  })),
);
print(describeMachine());
print(`${options.rounds} rounds of ${options.tokens} tokens, after one round of warm-up`);
for (let round = -1; round < options.rounds; round++) {
  for (const { sign, verify, microseconds } of candidates) {
    const tokens: string[] = [];
    const verifyAll = async () => {
      for (const token of tokens)
        if ((await verify(token)) === null) throw new Error("A valid token was rejected");
    };
    // One call after the other, as the latency of a request is measured.
    const measure = async (work: () => Promise<void>): Promise<number> => {
      const startedAt = performance.now();
      await work();
      return ((performance.now() - startedAt) * 1_000) / options.tokens;
    };
    const signed = await measure(async () => {
      while (tokens.length < options.tokens) tokens.push(await sign({ userId: 1, version: 0 }));
    });
    const verified = await measure(verifyAll);
    const verifiedAgain = await measure(verifyAll);
    if (round < 0) continue;
    microseconds.signed.push(signed);
    microseconds.verified.push(verified);
    microseconds.verifiedAgain.push(verifiedAgain);
  }
}
const base = median(candidates[0]?.microseconds.verified ?? []);
for (const { name, microseconds } of candidates) {
  const column = (label: string, value: number) => `   ${label} ${value.toFixed(1).padStart(6)} µs`;
  const verified = median(microseconds.verified);
  const columns = [
    column("sign", median(microseconds.signed)),
    column("verify", verified),
    column("verify again", median(microseconds.verifiedAgain)),
  ];
  print(`  ${name.padEnd(18)}${columns.join("")}   verify: ${(verified / base).toFixed(2)} × HS256`);
}
print(describeMachine());
