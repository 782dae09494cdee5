/** docs/production.md against the checkout: the variables, files and services that it names are there. */
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "@latchkey/testing/repository";
import { composeText, exampleText, parseEnvFile, readCompose } from "../compose/file.ts";
import { SECRET, unknownNames } from "../configuration.ts";

const path = join(ROOT, "docs/production.md");
const text = await Bun.file(path).text();
const find = (pattern: RegExp) => [...new Set([...text.matchAll(pattern)].map(([, found = ""]) => found))];

describe("docs/production.md", () => {
  test("names variables that the configuration or the env file has", () => {
    const inFiles = new Set([...Object.keys(parseEnvFile(exampleText)), "AUTH_SECRET_KEY_PREVIOUS"]);
    const named = find(/\b([A-Z]+(?:_[A-Z]+)+)\b/g).filter((name) => !inFiles.has(name));
    expect(named).not.toEqual([]);
    expect(unknownNames(Object.fromEntries(named.map((name) => [name, ""])))).toEqual([]);
  });

  test("links to files and headings that are there", () => {
    const headings = find(/^#+ (.+)$/gm).map((heading) => heading.toLowerCase().replaceAll(" ", "-"));
    for (const link of find(/\]\(([^)]+)\)/g)) {
      const [file = "", anchor] = link.split("#");
      if (file === "") expect(headings).toContain(anchor ?? "");
      else expect(existsSync(join(dirname(path), file))).toBe(true);
    }
  });

  test("gives commands to services that Compose has", () => {
    const { services } = readCompose({ AUTH_SECRET_KEY: SECRET, POSTGRES_PASSWORD: SECRET });
    const named = find(/docker compose (?:exec(?: -T)?|stop|build) (\S+)/g);
    expect(named).not.toEqual([]);
    expect(Object.keys(services)).toEqual(expect.arrayContaining(named));
    expect(composeText).toContain("docs/production.md");
  });

  test("says how long a container is given to stop, as Compose has it", () => {
    const { services } = readCompose({ AUTH_SECRET_KEY: SECRET, POSTGRES_PASSWORD: SECRET });
    expect(find(/docker stop --timeout (\d+)/g).map((seconds) => `${seconds}s`)).toEqual([
      services.gateway?.stop_grace_period ?? "",
    ]);
  });
});
