/** docker-compose.yml and its balancer: valid by the published schema, closed but for one port, accepted by the configuration. */
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ROOT } from "@latchkey/testing/repository";
import { Ajv } from "ajv";
import { configurationErrors, SECRET, shutdownSeconds, unknownNames } from "../configuration.ts";
import { composeText, exampleText, interpolate, parseEnvFile, readCompose, type Service } from "./file.ts";

const example = parseEnvFile(exampleText);
const variables = { ...example, AUTH_SECRET_KEY: SECRET, POSTGRES_PASSWORD: SECRET };
const compose = readCompose(variables);
const services = Object.entries(compose.services);
const gateways = services.filter(([, { image }]) => image === "latchkey");
const named = <Value>(pairs: readonly (readonly [string, Value])[], isMeant: (value: Value) => boolean) =>
  pairs.filter(([, value]) => isMeant(value)).map(([name]) => name);

/** What a gateway is started with: a variable without a value is taken from the env file, if it is there. */
function environmentOf({ environment = {} }: Service): Record<string, string> {
  const image = { NODE_ENV: "production" };
  const resolved = Object.entries(environment).map(
    ([name, value]) => [name, value ?? example[name]] as const,
  );
  return Object.assign(
    image,
    ...resolved.map(([name, value]) => (value === undefined ? {} : { [name]: value })),
  );
}

describe("docker-compose.yml", () => {
  test("is valid by the Compose Specification", async () => {
    const path = fileURLToPath(
      new URL("schemas/compose.schema.json", import.meta.resolve("dclint/package.json")),
    );
    const { $schema: _, ...schema } = await Bun.file(path).json();
    const validate = new Ajv({ strict: false, validateFormats: false, allErrors: true }).compile(schema);
    validate(compose);
    expect(validate.errors ?? []).toEqual([]);
  });

  test("has a profile with everything and one with the embedded database alone", () => {
    const inProfile = (profile: string) =>
      named(services, ({ profiles }) => profiles.includes(profile)).sort();
    expect(inProfile("production")).toEqual(["balancer", "gateway", "postgres", "valkey"]);
    expect(inProfile("embedded")).toEqual(["balancer", "gateway-embedded"]);
    expect(example.COMPOSE_PROFILES).toBe("production");
  });

  test.each(gateways)("%s sets only what the configuration knows and accepts", (_, service) => {
    const environment = environmentOf(service);
    expect(unknownNames(service.environment as Record<string, string>)).toEqual([]);
    expect(configurationErrors(environment)).toEqual([]);
    expect(environment.TRUST_PROXY).toBe("1");
  });

  test("refuses to start while a secret of the env file is empty", () => {
    for (const name of ["AUTH_SECRET_KEY", "POSTGRES_PASSWORD"]) {
      expect(example[name]).toBe("");
      expect(() => interpolate(composeText, { ...variables, [name]: "" })).toThrow(`${name}: set it in .env`);
    }
  });

  test("takes from the env file only what its example explains", () => {
    const asked = [...composeText.matchAll(/\$\{([A-Z_]+)/g)].map(([, name]) => name);
    const passed = gateways.flatMap(([, { environment = {} }]) =>
      named(Object.entries(environment), (value) => value === null),
    );
    for (const name of [...asked, ...passed]) expect(exampleText).toMatch(new RegExp(`^(# )?${name}=`, "m"));
  });

  test("publishes a port of the balancer alone", () => {
    expect(named(services, ({ ports }) => ports !== undefined)).toEqual(["balancer"]);
  });

  test.each(services)(
    "%s runs on a read-only tree, without capabilities or a way to gain any",
    (_, service) => {
      expect(service).toMatchObject({
        read_only: true,
        cap_drop: ["ALL"],
        security_opt: ["no-new-privileges:true"],
      });
    },
  );

  test.each(services)("%s mounts what is declared or there", (_, { volumes = [], build }) => {
    for (const volume of volumes) {
      const [source = ""] = volume.split(":");
      if (source.startsWith(".")) expect(existsSync(join(ROOT, source))).toBe(true);
      else expect(Object.keys(compose.volumes)).toContain(source);
    }
    if (build) expect(existsSync(join(ROOT, build.context, build.dockerfile))).toBe(true);
  });

  test("starts each service after those it needs are healthy, and lets the gateway alone reach the stores", () => {
    const needs = (name: string) => Object.entries(compose.services[name]?.depends_on ?? {});
    expect(needs("balancer").map(([name]) => name)).toEqual(["gateway", "gateway-embedded"]);
    expect(needs("gateway").map(([name]) => name)).toEqual(["postgres", "valkey"]);
    for (const [name] of services)
      for (const [, { condition }] of needs(name)) expect(condition).toBe("service_healthy");
    for (const name of ["postgres", "valkey"]) expect(compose.services[name]?.healthcheck).toBeDefined();
    expect(compose.networks.back).toEqual({ internal: true });
    expect(named(services, ({ networks }) => Object.values(networks).includes("back"))).toEqual([
      "gateway",
      "postgres",
      "valkey",
    ]);
  });

  test.each(gateways)("%s has more time to stop than it may take", (_, service) => {
    expect(Number(service.stop_grace_period?.replace("s", ""))).toBeGreaterThan(
      shutdownSeconds(environmentOf(service)),
    );
  });
});
