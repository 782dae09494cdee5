/**
 * Measures tokens by algorithm: the time to sign one, to verify its signature, and to verify it again, when its payload is
 * known. In one thread, interleaved.
 */
import { interleave, median, parseOptions, print } from "@latchkey/testing/benchmark";
import { createKeyPair, SECRET_KEY } from "@latchkey/testing/keys";
import { parseConfig } from "../src/config.ts";
import { createTokens } from "../src/middleware/bearer-auth.ts";
import { importTokenKeys } from "../src/token-keys.ts";

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

/** Microseconds per token, one call after the other, as the latency of a request is measured. */
async function measure(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return ((performance.now() - startedAt) * 1_000) / options.tokens;
}

async function createCandidate(variables: Readonly<Record<string, string>>) {
  const { auth } = parseConfig(variables, { kernels: [], isTerminal: false, readFile: () => "" });
  const keys = await importTokenKeys({ ...auth, openSecretKey: () => SECRET_KEY });
  const { sign, verify } = createTokens({ ...auth, keys });
  return async () => {
    const tokens: string[] = [];
    const verifyAll = async () => {
      for (const token of tokens)
        if ((await verify(token)) === null) throw new Error("A valid token was rejected");
    };
    const signAll = async () => {
      while (tokens.length < options.tokens) tokens.push(await sign({ userId: 1, version: 0 }));
    };
    return {
      sign: await measure(signAll),
      verify: await measure(verifyAll),
      "verify again": await measure(verifyAll),
    };
  };
}

const candidates = Object.entries(CONFIGURATIONS).map(
  async ([name, variables]) => [name, await createCandidate(variables)] as const,
);
print(`${options.rounds} rounds of ${options.tokens} tokens, after one round of warm-up`);
const tasks = Object.fromEntries(await Promise.all(candidates));
const results = await interleave(tasks, { rounds: options.rounds, warmUp: 1 });
const { HS256: baseline } = results;
if (!baseline) throw new Error("HS256 was not measured");
const FIGURES = ["sign", "verify", "verify again"] as const;
const medianOf = (figure: (typeof FIGURES)[number], rounds: (typeof results)[string]): number =>
  median(rounds.map((round) => round[figure]));
for (const [name, rounds] of Object.entries(results)) {
  const columns = FIGURES.map(
    (figure) => `   ${figure} ${medianOf(figure, rounds).toFixed(1).padStart(6)} µs`,
  );
  const ratio = medianOf("verify", rounds) / medianOf("verify", baseline);
  print(`  ${name.padEnd(18)}${columns.join("")}   verify: ${ratio.toFixed(2)} × HS256`);
}
