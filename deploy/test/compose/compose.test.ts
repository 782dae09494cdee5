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
  type Service,
} from "./compose-file.ts";

const example = parseEnvFile(exampleText);
const gatewayEnv = { AUTH_SECRET_KEY: SECRET };
const compose = readCompose({ ...example, POSTGRES_PASSWORD: SECRET });
const services = Object.entries(compose.services);
const gateways = services.filter(([name]) => name.startsWith("gateway"));

const servicesWhere = (matches: (service: Service) => boolean): string[] =>
  services.filter(([, service]) => matches(service)).map(([name]) => name);

describe("docker-compose.yml", () => {
  test("the file matches the Compose Specification", async () => {
    const path = new URL("schemas/compose.schema.json", import.meta.resolve("dclint/package.json"));
    const { $schema: _, ...schema } = await Bun.file(path).json();
    const validate = new Ajv({ strict: false, validateFormats: false, allErrors: true }).compile(schema);
    validate(compose);
    expect(validate.errors ?? []).toEqual([]);
  });

  test("the production profile starts four services, the embedded profile two, and both check the settings", () => {
    const inProfile = (name: string) => servicesWhere(({ profiles = [] }) => profiles.includes(name)).sort();
    expect(inProfile("production")).toEqual(["balancer", "gateway", "postgres", "valkey"]);
    expect(inProfile("embedded")).toEqual(["balancer", "gateway-embedded"]);
    expect(compose.services.configuration?.profiles).toBeUndefined();
    expect(example.COMPOSE_PROFILES).toBe("production");
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
    const proxy = { TRUST_PROXY: 2, CONNECTIONS_PER_CLIENT: 100 };
    const behindProxy = readCompose({ TRUST_PROXY: "2", CONNECTIONS_PER_CLIENT: "100" }).services;
    expect(behindProxy.balancer?.environment).toMatchObject(proxy);
    expect(behindProxy.gateway?.environment).toMatchObject({ TRUST_PROXY: 2 });
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

  test("only the balancer publishes a port", () => {
    expect(servicesWhere(({ ports }) => ports !== undefined)).toEqual(["balancer"]);
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

  test("each service starts after the settings were found valid and its dependencies are healthy", () => {
    const dependencies = (name: string) => Object.entries(compose.services[name]?.depends_on ?? {});
    expect(dependencies("gateway").map(([name]) => name)).toEqual(["configuration", "postgres", "valkey"]);
    for (const name of ["balancer", "gateway-embedded", "postgres", "valkey"]) {
      expect(dependencies(name).map(([dependency]) => dependency)).toEqual(["configuration"]);
    }
    for (const [name, { condition }] of services.flatMap(([name]) => dependencies(name))) {
      expect(condition).toBe(name === "configuration" ? "service_completed_successfully" : "service_healthy");
    }
    for (const name of ["balancer", "postgres", "valkey"])
      expect(compose.services[name]?.healthcheck).toBeDefined();
  });

  test("only the gateway shares the internal network of the databases", () => {
    expect(compose.networks.back).toEqual({ internal: true });
    const inBack = servicesWhere(({ networks = [] }) => Object.values(networks).includes("back"));
    expect(inBack).toEqual(["gateway", "postgres", "valkey"]);
  });

  test.each(gateways)("Compose waits longer for %s to stop than the gateway takes", (_, service) => {
    const graceSeconds = Number(service.stop_grace_period?.replace("s", ""));
    expect(graceSeconds).toBeGreaterThan(shutdownSeconds(environmentOf(service, gatewayEnv)));
  });
});
