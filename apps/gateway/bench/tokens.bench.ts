/** Measures signing and verification of one token by algorithm: time per token in one thread, interleaved. */
import { describeMachine } from "@latchkey/cli";
import { createKeyPair } from "@latchkey/testing/key-pair";
import { SECRET_KEY } from "@latchkey/testing/secret-key";
import { parseConfig } from "../src/config.ts";
import { createTokens } from "../src/middleware/jwt.ts";
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
    signMicroseconds: [] as number[],
    verifyMicroseconds: [] as number[],
  };
}

/** One call after the other, as the latency of a request is measured. */
async function measure(call: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  for (let count = 0; count < options.tokens; count++) {
    if ((await call()) === null) throw new Error("A valid token was rejected");
  }
  return ((performance.now() - startedAt) * 1_000) / options.tokens;
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
  for (const { sign, verify, signMicroseconds, verifyMicroseconds } of candidates) {
    const token = await sign({ userId: 1, version: 0 });
    const signed = await measure(() => sign({ userId: 1, version: 0 }));
    const verified = await measure(() => verify(token));
    if (round < 0) continue;
    signMicroseconds.push(signed);
    verifyMicroseconds.push(verified);
  }
}
const [base] = candidates;
for (const { name, signMicroseconds, verifyMicroseconds } of candidates) {
  const [signed, verified] = [median(signMicroseconds), median(verifyMicroseconds)];
  const ratio = verified / median(base?.verifyMicroseconds ?? [verified]);
  print(
    `  ${name.padEnd(18)} sign ${signed.toFixed(1).padStart(7)} µs   verify ${verified.toFixed(1).padStart(7)} µs, ${ratio.toFixed(2)} × HS256`,
  );
}
print(describeMachine());
