/** docker-compose.yml matches the Compose Specification, publishes one port, and starts every gateway. */
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createKeyPair } from "@latchkey/testing/keys";
import { ROOT } from "@latchkey/testing/repository";
import { Ajv } from "ajv";
import {
  checkConfiguration,
  connectionsOf,
  RESERVED_CONNECTIONS,
  SECRET,
  shutdownSeconds,
  unknownNames,
} from "../configuration.ts";
import { HAPROXY_CONFIGURATION } from "./balancer.ts";
import {
  composeText,
  defaults,
  environmentOf,
  exampleText,
  parseEnvFile,
  readCompose,
} from "./compose-file.ts";

const example = parseEnvFile(exampleText);
const gatewayEnv = { AUTH_SECRET_KEY: SECRET };
const compose = readCompose({ ...example, POSTGRES_PASSWORD: SECRET });
const services = Object.entries(compose.services);
const gateways = services.filter(([name]) => name.startsWith("gateway"));

describe("docker-compose.yml", () => {
  test("the file matches the Compose Specification", async () => {
    const path = new URL("schemas/compose.schema.json", import.meta.resolve("dclint/package.json"));
    const { $schema: _, ...schema } = await Bun.file(path).json();
    const validate = new Ajv({ strict: false, validateFormats: false, allErrors: true }).compile(schema);
    validate(compose);
    expect(validate.errors ?? []).toEqual([]);
  });

  test.each(gateways)(
    "%s accepts its settings, each of them is a variable that it reads, and gateway.env sets others, such as a key pair",
    (_, service) => {
      expect(unknownNames(service.environment ?? {})).toEqual([]);
      expect(service.env_file).toBe("gateway.env");
      const { errors, values } = checkConfiguration(
        environmentOf(service, { ...gatewayEnv, LOG_LEVEL: "warn" }),
      );
      expect(errors).toEqual([]);
      expect([values.get("LOG_LEVEL"), values.get("TRUST_PROXY")]).toEqual(["warn", "1"]);
      const pair = { AUTH_ALGORITHM: "EdDSA", AUTH_PRIVATE_KEY: createKeyPair("EdDSA").privatePem };
      expect(checkConfiguration(environmentOf(service, pair)).errors).toEqual([]);
    },
  );

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

  test(".env.example explains every variable that the file reads, with its default", () => {
    expect([...defaults.keys()]).toContain("GATEWAY_REPLICAS");
    expect([...composeText.matchAll(/(?<!\$)\$\{/g)]).toHaveLength(
      [...composeText.matchAll(/\$\{[A-Z_]+:-[^}]*\}/g)].length,
    );
    for (const [name, value] of defaults) {
      expect(exampleText).toMatch(new RegExp(`^(# )?${name}=${value.replaceAll(".", "\\.")}$`, "m"));
    }
  });

  test("PostgreSQL accepts the connections of as many replicas as the balancer supports", async () => {
    const configuration = await Bun.file(HAPROXY_CONFIGURATION).text();
    const replicas = Number(/server-template gateway- (\d+) gateway:/.exec(configuration)?.[1]);
    const poolSize = Number(compose.services.gateway?.environment?.DATABASE_POOL_SIZE);
    const [, maxConnections] =
      /max_connections=(\d+)/.exec(compose.services.postgres?.command?.join(" ") ?? "") ?? [];
    const connections = connectionsOf(replicas, poolSize);
    expect(connections).toBeGreaterThan(0);
    expect(connections).toBeLessThanOrEqual(Number(maxConnections) - RESERVED_CONNECTIONS);
  });

  test.each(services)(
    "%s has a read-only file system, no capabilities, and mounts only what exists",
    (_, service) => {
      const security_opt = ["no-new-privileges:true"];
      expect(service).toMatchObject({ read_only: true, cap_drop: ["ALL"], security_opt });
      const { volumes = [], build } = service;
      for (const [source = ""] of volumes.map((volume) => volume.split(":"))) {
        if (source.startsWith(".")) expect(existsSync(join(ROOT, source))).toBe(true);
        else expect(Object.keys(compose.volumes)).toContain(source);
      }
      if (build) expect(existsSync(join(ROOT, build.context, build.dockerfile))).toBe(true);
    },
  );

  test.each([
    ["configuration", "", "", ""],
    ["balancer", "production embedded", "configuration", "front"],
    ["gateway", "production", "configuration postgres valkey", "front back"],
    ["gateway-embedded", "embedded", "configuration", "front"],
    ["postgres", "production", "configuration", "back"],
    ["valkey", "production", "configuration", "back"],
  ])(
    "%s is in the profiles %j, starts after %j, and is in the networks %j",
    (name, inProfiles, after, inNetworks) => {
      const {
        profiles = [],
        depends_on = {},
        networks = [],
        ports,
        healthcheck,
      } = compose.services[name] ?? {};
      const lists = [profiles, Object.keys(depends_on), networks];
      expect(lists.map((list) => list.join(" "))).toEqual([inProfiles, after, inNetworks]);
      for (const [dependency, { condition }] of Object.entries(depends_on)) {
        const isChecked = dependency === "configuration";
        expect(condition).toBe(isChecked ? "service_completed_successfully" : "service_healthy");
      }
      expect(ports !== undefined).toBe(name === "balancer");
      // The others have the health check of the image.
      if (!name.includes("gateway")) expect(healthcheck).toBeDefined();
    },
  );

  test("the network of the databases is internal", () => {
    expect(compose.networks.back).toEqual({ internal: true });
    expect(Object.keys(compose.services)).toHaveLength(6);
  });

  test.each(gateways)("Compose waits longer for %s to stop than the gateway takes", (_, service) => {
    const graceSeconds = Number(service.stop_grace_period?.replace("s", ""));
    expect(graceSeconds).toBeGreaterThan(shutdownSeconds(environmentOf(service, gatewayEnv)));
  });
});
