/** docker-compose.yml matches the Compose Specification, publishes one port, and starts every gateway. */
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ROOT } from "@latchkey/testing/repository";
import { Ajv } from "ajv";
import {
  checkConfiguration,
  SECRET,
  shutdownSeconds,
  unknownNames,
  type Variables,
} from "../configuration.ts";
import {
  composeText,
  exampleText,
  interpolate,
  parseEnvFile,
  readCompose,
  type Service,
} from "./compose-file.ts";

const example = parseEnvFile(exampleText);
const variables = { ...example, AUTH_SECRET_KEY: SECRET, POSTGRES_PASSWORD: SECRET };
const compose = readCompose(variables);
const services = Object.entries(compose.services);
const gateways = services.filter(([, { image }]) => image === "latchkey");

const servicesWhere = (matches: (service: Service) => boolean): string[] =>
  services.filter(([, service]) => matches(service)).map(([name]) => name);

/** The environment of a gateway container: a variable without a value comes from the env file, if that defines it. */
function environmentOf({ environment = {} }: Service): Variables {
  const resolved = Object.entries(environment).map(([name, value]) => [name, value ?? example[name]]);
  return Object.fromEntries([
    ["NODE_ENV", "production"],
    ...resolved.filter(([, value]) => value !== undefined),
  ]);
}

describe("docker-compose.yml", () => {
  test("the file matches the Compose Specification", async () => {
    const path = fileURLToPath(
      new URL("schemas/compose.schema.json", import.meta.resolve("dclint/package.json")),
    );
    const { $schema: _, ...schema } = await Bun.file(path).json();
    const validate = new Ajv({ strict: false, validateFormats: false, allErrors: true }).compile(schema);
    validate(compose);
    expect(validate.errors ?? []).toEqual([]);
  });

  test("the production profile starts four services, the embedded profile two", () => {
    const inProfile = (name: string) => servicesWhere(({ profiles }) => profiles.includes(name)).sort();
    expect(inProfile("production")).toEqual(["balancer", "gateway", "postgres", "valkey"]);
    expect(inProfile("embedded")).toEqual(["balancer", "gateway-embedded"]);
    expect(example.COMPOSE_PROFILES).toBe("production");
  });

  test.each(gateways)(
    "%s accepts its settings, and each of them is a variable that it reads",
    (_, service) => {
      const environment = environmentOf(service);
      expect(unknownNames(environment)).toEqual([]);
      expect(checkConfiguration(environment).errors).toEqual([]);
      expect(environment.TRUST_PROXY).toBe("1");
    },
  );

  test("Compose refuses to start while a secret of the env file is empty", () => {
    for (const name of ["AUTH_SECRET_KEY", "POSTGRES_PASSWORD"]) {
      expect(example[name]).toBe("");
      expect(() => interpolate(composeText, { ...variables, [name]: "" })).toThrow(`${name}: set it in .env`);
    }
  });

  test(".env.example explains every variable that the file reads", () => {
    const interpolated = [...composeText.matchAll(/\$\{([A-Z_]+)/g)].map(([, name]) => name);
    const passedOn = gateways.flatMap(([, { environment = {} }]) =>
      Object.keys(environment).filter((name) => environment[name] === null),
    );
    for (const name of [...interpolated, ...passedOn]) {
      expect(exampleText).toMatch(new RegExp(`^(# )?${name}=`, "m"));
    }
  });

  test("only the balancer publishes a port", () => {
    expect(servicesWhere(({ ports }) => ports !== undefined)).toEqual(["balancer"]);
  });

  test.each(services)("%s runs on a read-only file system without capabilities", (_, service) => {
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ["ALL"],
      security_opt: ["no-new-privileges:true"],
    });
  });

  test.each(services)(
    "%s mounts only files that exist and volumes that are declared",
    (_, { volumes = [], build }) => {
      for (const volume of volumes) {
        const [source = ""] = volume.split(":");
        if (source.startsWith(".")) expect(existsSync(join(ROOT, source))).toBe(true);
        else expect(Object.keys(compose.volumes)).toContain(source);
      }
      if (build) expect(existsSync(join(ROOT, build.context, build.dockerfile))).toBe(true);
    },
  );

  test("each service starts after its dependencies are healthy", () => {
    const dependencies = (name: string) => Object.entries(compose.services[name]?.depends_on ?? {});
    expect(dependencies("balancer").map(([name]) => name)).toEqual(["gateway", "gateway-embedded"]);
    expect(dependencies("gateway").map(([name]) => name)).toEqual(["postgres", "valkey"]);
    for (const [name] of services) {
      for (const [, { condition }] of dependencies(name)) expect(condition).toBe("service_healthy");
    }
    for (const name of ["postgres", "valkey"]) expect(compose.services[name]?.healthcheck).toBeDefined();
  });

  test("only the gateway shares the internal network of the databases", () => {
    expect(compose.networks.back).toEqual({ internal: true });
    const inBack = servicesWhere(({ networks }) => Object.values(networks).includes("back"));
    expect(inBack).toEqual(["gateway", "postgres", "valkey"]);
  });

  test.each(gateways)("Compose waits longer for %s to stop than the gateway takes", (_, service) => {
    const graceSeconds = Number(service.stop_grace_period?.replace("s", ""));
    expect(graceSeconds).toBeGreaterThan(shutdownSeconds(environmentOf(service)));
  });
});
