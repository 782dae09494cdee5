/** deploy/kubernetes: valid by the published schemas, without a field they do not know, accepted by the configuration. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "@latchkey/testing/repository";
import type { IDeployment } from "kubernetes-models/apps/v1/Deployment";
import { Deployment } from "kubernetes-models/apps/v1/Deployment";
import type { IJob } from "kubernetes-models/batch/v1/Job";
import { Job } from "kubernetes-models/batch/v1/Job";
import type { IPodSpec } from "kubernetes-models/v1/PodSpec";
import type { IService } from "kubernetes-models/v1/Service";
import { Service } from "kubernetes-models/v1/Service";
import { parseEnvFile } from "../compose/file.ts";
import {
  configurationErrors,
  DATABASE_URL,
  SECRET,
  shutdownSeconds,
  unknownNames,
} from "../configuration.ts";
import { typeErrorsOf } from "./types.ts";

// The compiler reads all of Kubernetes for one of these.
setDefaultTimeout(60_000);

const FOLDER = join(ROOT, "deploy/kubernetes");
const read = async (name: string): Promise<unknown> =>
  Bun.YAML.parse(await Bun.file(join(FOLDER, name)).text());

// Guarantee of the casts: the schemas accept the manifests, which is the first test.
const deployment = (await read("deployment.yaml")) as IDeployment;
const job = (await read("migration.yaml")) as IJob;
const service = (await read("service.yaml")) as IService;
const kustomization = (await read("kustomization.yaml")) as {
  readonly resources: readonly string[];
  readonly configMapGenerator: readonly { readonly name: string; readonly envs: readonly string[] }[];
};

const pod = (spec: IPodSpec | undefined) => ({ spec, container: spec?.containers[0] });
const gateway = pod(deployment.spec?.template.spec);
const migration = pod(job.spec?.template.spec);
const settings = parseEnvFile(await Bun.file(join(FOLDER, "gateway.env")).text());

describe("deploy/kubernetes", () => {
  test("is valid by the Kubernetes schemas", () => {
    for (const model of [new Deployment(deployment), new Job(job), new Service(service)]) {
      expect(() => model.validate()).not.toThrow();
    }
  });

  test("has no field that Kubernetes does not know", () => {
    expect(
      typeErrorsOf([
        { type: "IDeployment", from: "kubernetes-models/apps/v1/Deployment", value: deployment },
        { type: "IJob", from: "kubernetes-models/batch/v1/Job", value: job },
        { type: "IService", from: "kubernetes-models/v1/Service", value: service },
      ]),
    ).toEqual([]);
  });

  test("lists every manifest in the kustomization, and generates the settings the pods name", () => {
    const files = readdirSync(FOLDER).sort();
    const [generator] = kustomization.configMapGenerator;
    expect(["kustomization.yaml", ...kustomization.resources, ...(generator?.envs ?? [])].sort()).toEqual(
      files,
    );
    expect(gateway.container?.envFrom).toEqual([{ configMapRef: { name: generator?.name ?? "" } }]);
  });

  test("sets only what the configuration knows and accepts", () => {
    const secrets = [...(gateway.container?.env ?? []), ...(migration.container?.env ?? [])].map(
      ({ name }) => name,
    );
    const known = { AUTH_SECRET_KEY: SECRET, DATABASE_URL };
    expect(unknownNames({ ...settings, ...Object.fromEntries(secrets.map((name) => [name, ""])) })).toEqual(
      [],
    );
    expect(secrets).toEqual(expect.arrayContaining(Object.keys(known)));
    expect(configurationErrors({ NODE_ENV: "production", ...settings, ...known })).toEqual([]);
  });

  test("holds no secret: each comes from the one that the cluster has", () => {
    for (const { container } of [gateway, migration]) {
      for (const { value, valueFrom } of container?.env ?? []) {
        expect(value).toBeUndefined();
        expect(valueFrom?.secretKeyRef?.name).toBe("latchkey");
      }
    }
  });

  test("asks the probes of the service, at the port that the container has", () => {
    const { startupProbe, livenessProbe, readinessProbe, ports = [] } = gateway.container ?? {};
    expect([startupProbe, livenessProbe, readinessProbe].map((probe) => probe?.httpGet?.path)).toEqual([
      "/healthz",
      "/healthz",
      "/readyz",
    ]);
    for (const probe of [startupProbe, livenessProbe, readinessProbe])
      expect(probe?.httpGet?.port).toBe("http");
    expect(ports).toEqual([
      { name: "http", containerPort: 3000 },
      { name: "metrics", containerPort: Number(settings.METRICS_PORT) },
    ]);
    expect(service.spec?.ports?.[0]?.targetPort).toBe("http");
  });

  test("leads the Service and the Deployment to the same pods", () => {
    const labels = deployment.spec?.template.metadata?.labels;
    expect(deployment.spec?.selector.matchLabels).toEqual(labels);
    expect(service.spec?.selector).toEqual(labels);
    expect(job.spec?.template.metadata?.labels).not.toEqual(labels);
  });

  test("gives the gateway more time to stop than it may take", () => {
    const needed = shutdownSeconds({
      ...settings,
      DATABASE_URL,
      AUTH_SECRET_KEY: SECRET,
    });
    expect(gateway.spec?.terminationGracePeriodSeconds).toBeGreaterThan(needed);
  });

  test("runs without root, capabilities or a writable tree, within resources", () => {
    for (const { spec, container } of [gateway, migration]) {
      expect(spec?.securityContext?.runAsNonRoot).toBe(true);
      expect(container?.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
      expect(container?.resources?.requests).toContainKeys(["cpu", "memory"]);
      expect(container?.resources?.limits).toContainKey("memory");
    }
  });

  test("migrates with the operator's tool", () => {
    expect(migration.container?.command).toEqual(["bun", "apps/admin/src/main.ts", "migrate"]);
  });
});
