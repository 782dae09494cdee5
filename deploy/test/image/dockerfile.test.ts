/** The Dockerfile as text: versions that agree with the checkout, and what the image promises whoever runs it. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { ROOT } from "@latchkey/testing/repository";
import { configurationErrors, DATABASE_URL, SECRET, unknownNames } from "../configuration.ts";
import { parseDockerfile, type Step } from "./dockerfile.ts";

const stages = parseDockerfile(await Bun.file(join(ROOT, "apps/gateway/Dockerfile")).text());
const manifest: { packageManager: string; devDependencies: Record<string, string> } = await Bun.file(
  join(ROOT, "package.json"),
).json();

const stepsOf = <Kind extends Step["kind"]>(steps: readonly Step[], kind: Kind) =>
  steps.filter((step): step is Extract<Step, { kind: Kind }> => step.kind === kind);
const commands = stages.flatMap(({ steps }) => stepsOf(steps, "run").map(({ command }) => command));
const image = stages.at(-1)?.steps ?? [];

describe("Dockerfile", () => {
  test("runs on the Bun of package.json, and prunes with its turbo", () => {
    const version = manifest.packageManager.replace("bun@", "");
    const bases = stages.map(({ from }) => from).filter((from) => !stages.some(({ name }) => name === from));
    expect(bases).toEqual([`oven/bun:${version}-slim`]);
    expect(commands.join("\n")).toContain(`bunx turbo@${manifest.devDependencies.turbo} prune`);
  });

  test("installs what is locked, and for the image nothing of development", () => {
    const installs = commands.filter((command) => command.includes("bun install"));
    expect(installs.every((command) => command.includes("--frozen-lockfile"))).toBe(true);
    expect(installs).toContain("bun install --production --frozen-lockfile");
  });

  test("compiles in a stage of its own: the image itself runs no command", () => {
    expect(stepsOf(image, "run")).toEqual([]);
    const compiling = stages.filter(({ steps }) =>
      stepsOf(steps, "run").some(({ command }) => /gcc/.test(command)),
    );
    expect(compiling.map(({ name }) => name)).toEqual(["native"]);
  });

  test("runs as a numbered account that is not root", () => {
    expect(stepsOf(image, "user").map(({ user }) => user)).toEqual(["1000:1000"]);
  });

  test("starts and checks itself without a shell and without curl", () => {
    expect(stepsOf(image, "cmd").map(({ command }) => command)).toEqual([
      ["bun", "apps/gateway/src/main.ts"],
    ]);
    expect(stepsOf(image, "healthcheck").map(({ command }) => command[0])).toEqual(["bun"]);
  });

  test("sets only what the configuration knows, and listens on the port it exposes", () => {
    const variables: Record<string, string> = Object.assign(
      {},
      ...stepsOf(image, "env").map((step) => step.variables),
    );
    expect(unknownNames(variables).filter((name) => !name.startsWith("BUN_"))).toEqual([]);
    expect(configurationErrors({ ...variables, AUTH_SECRET_KEY: SECRET, DATABASE_URL })).toEqual([]);
    expect(variables).toMatchObject({ NODE_ENV: "production", HOST: "0.0.0.0" });
    expect(stepsOf(image, "expose").map(({ port }) => String(port))).toEqual([variables.PORT ?? ""]);
  });
});

describe("a Dockerfile's reader", () => {
  test("joins lines, leaves comments out, keeps stages apart", () => {
    const [first, second] = parseDockerfile(
      "# a\nFROM one AS base\n\nRUN a && \\\n    # between\n    b\nFROM base\n",
    );
    expect(first).toEqual({ name: "base", from: "one", steps: [{ kind: "run", command: "a && b" }] });
    expect(second).toEqual({ name: null, from: "base", steps: [] });
  });

  test.each([
    "CMD bun main.ts",
    "HEALTHCHECK CMD curl localhost",
    "ADD a b",
    "COPY --link a b",
    "COPY a b c",
  ])("refuses %s", (line) => {
    expect(() => parseDockerfile(`FROM base\n${line}`)).toThrow();
  });
});
