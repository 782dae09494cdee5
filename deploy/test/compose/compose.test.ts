/** docker-compose.yml matches the Compose Specification, publishes one port, and starts every gateway. */
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createKeyPair } from "@latchkey/testing/keys";
import { ROOT } from "@latchkey/testing/repository";
import { Ajv } from "ajv";
import {
  checkConfiguration,
  connectionsOf,
  SECRET,
  shutdownSeconds,
  unknownNames,
} from "../configuration.ts";
import { MAX_REPLICAS } from "./balancer.ts";
import {
  composeText,
  defaults,
  environmentOf,
  exampleText,
  parseEnvFile,
  readCompose,
} from "./compose-file.ts";

const example = parseEnvFile(exampleText);
const compose = readCompose({ ...example, POSTGRES_PASSWORD: SECRET });
const services = Object.entries(compose.services);
const gateways = services.filter(([name]) => name.startsWith("gateway"));

test("the file matches the Compose Specification", async () => {
  const path = new URL("schemas/compose.schema.json", import.meta.resolve("dclint/package.json"));
  const { $schema: _, ...schema } = await Bun.file(path).json();
  const validate = new Ajv({ strict: false, validateFormats: false, allErrors: true }).compile(schema);
  validate(compose);
  expect(validate.errors ?? []).toEqual([]);
});

test.each(gateways)(
  "%s accepts and reads all of its settings, and stops before Compose kills it",
  (_, service) => {
    expect(unknownNames(service.environment ?? {})).toEqual([]);
    const checked = checkConfiguration(environmentOf(service, { AUTH_SECRET_KEY: SECRET }));
    expect([checked.errors, checked.values.get("TRUST_PROXY")]).toEqual([[], "1"]);
    const graceSeconds = Number(service.stop_grace_period?.replace("s", ""));
    expect(graceSeconds).toBeGreaterThan(shutdownSeconds(checked));
  },
);

test.each(gateways)("gateway.env sets other variables of %s, such as a key pair", (_, service) => {
  expect(service.env_file).toBe("gateway.env");
  const { privatePem } = createKeyPair("EdDSA");
  const own = { AUTH_ALGORITHM: "EdDSA", AUTH_PRIVATE_KEY: privatePem, LOG_LEVEL: "warn" };
  const { errors, values } = checkConfiguration(environmentOf(service, own));
  expect([errors, values.get("LOG_LEVEL")]).toEqual([[], "warn"]);
});

test(".env sets the number of replicas, their limits and the rotation of their logs, and changes no other service", () => {
  const limits = { GATEWAY_CPUS: "1.5", GATEWAY_MEMORY: "600m", PIDS_LIMIT: "700", LOG_MAX_SIZE: "1m" };
  const replicas = { GATEWAY_REPLICAS: "3", LOG_MAX_FILES: "2", POSTGRES_PASSWORD: SECRET };
  const own = readCompose({ ...limits, ...replicas });
  expect(own.services.gateway).toMatchObject({
    deploy: { replicas: 3 },
    cpus: 1.5,
    mem_limit: "600m",
    pids_limit: 700,
    logging: { options: { "max-size": "1m", "max-file": "2" } },
  });
  for (const name of ["balancer", "postgres", "valkey"]) {
    expect([name, own.services[name]]).toEqual([name, compose.services[name]]);
    expect(own.services[name]?.env_file).toBeUndefined();
  }
});

test(".env.example explains the variables that the file reads, with their defaults, and no others", () => {
  expect(defaults).toHaveProperty("GATEWAY_REPLICAS");
  // Each interpolation has the form that the tests understand.
  expect(composeText.match(/(?<!\$)\$\{/g)).toHaveLength(
    composeText.match(/\$\{[A-Z_]+:-[^}]*\}/g)?.length ?? 0,
  );
  const explained = [...exampleText.matchAll(/^(?:# )?([A-Z_]+)=(.*)$/gm)];
  expect(Object.fromEntries(explained.map(([, name, value]) => [name, value]))).toEqual(defaults);
});

test("PostgreSQL accepts the connections of as many replicas as the balancer supports", () => {
  const { gateway, postgres } = compose.services;
  const connections = connectionsOf(MAX_REPLICAS, Number(gateway?.environment?.DATABASE_POOL_SIZE));
  const [, maxConnections] = /max_connections=(\d+)/.exec(postgres?.command?.join() ?? "") ?? [];
  expect(connections).toBeLessThanOrEqual(Number(maxConnections));
});

test.each(services)(
  "%s has a read-only file system, no capabilities and a health check, and mounts only what exists",
  (_, service) => {
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ["ALL"],
      security_opt: ["no-new-privileges:true"],
      healthcheck: expect.anything(),
    });
    const { volumes = [], build } = service;
    for (const [source = ""] of volumes.map((volume) => volume.split(":"))) {
      if (source.startsWith(".")) expect(existsSync(join(ROOT, source))).toBe(true);
      else expect(Object.keys(compose.volumes)).toContain(source);
    }
    if (build) expect(existsSync(join(ROOT, build.context, build.dockerfile))).toBe(true);
  },
);

test("services start in their profiles, after their dependencies, and only the balancer publishes a port", () => {
  const found = services.map(([name, { profiles = [], networks = [], ports = [], depends_on = {} }]) => [
    ...[name, profiles.join(" "), networks.join(" ")],
    ...[ports.length, depends_on],
  ]);
  const checked = { configuration: { condition: "service_completed_successfully" } };
  const healthy = { condition: "service_healthy" };
  expect(found).toEqual([
    ["configuration", "", "", 0, {}],
    ["balancer", "production embedded", "front", 1, checked],
    ["gateway", "production", "front back", 0, { ...checked, postgres: healthy, valkey: healthy }],
    ["gateway-embedded", "embedded", "front", 0, checked],
    ["postgres", "production", "back", 0, checked],
    ["valkey", "production", "back", 0, checked],
  ]);
  expect(compose.networks.back).toEqual({ internal: true });
});
