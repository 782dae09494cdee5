/** deploy/kubernetes: matches the published schemas, contains only fields they define, and starts the service. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "@latchkey/testing/repository";
import type { IDeployment } from "kubernetes-models/apps/v1/Deployment";
import { Deployment } from "kubernetes-models/apps/v1/Deployment";
import type { IJob } from "kubernetes-models/batch/v1/Job";
import { Job } from "kubernetes-models/batch/v1/Job";
import type { INetworkPolicy } from "kubernetes-models/networking.k8s.io/v1/NetworkPolicy";
import { NetworkPolicy } from "kubernetes-models/networking.k8s.io/v1/NetworkPolicy";
import type { IPodSpec } from "kubernetes-models/v1/PodSpec";
import type { IService } from "kubernetes-models/v1/Service";
import { Service } from "kubernetes-models/v1/Service";
import { parseEnvFile } from "../compose/compose-file.ts";
import { checkConfiguration, DATABASE_URL, SECRET, shutdownSeconds, unknownNames } from "../configuration.ts";
import { typeErrorsOf } from "./types.ts";

// One test compiles the types of all of Kubernetes.
setDefaultTimeout(60_000);

const FOLDER = join(ROOT, "deploy/kubernetes");
const read = async (name: string): Promise<unknown> =>
  Bun.YAML.parse(await Bun.file(join(FOLDER, name)).text());

// The casts are safe because the first test validates the manifests against the schemas.
const deployment = (await read("deployment.yaml")) as IDeployment;
const job = (await read("migration.yaml")) as IJob;
const service = (await read("service.yaml")) as IService;
const policy = (await read("network-policy.yaml")) as INetworkPolicy;
const kustomization = (await read("kustomization.yaml")) as {
  readonly resources: readonly string[];
  readonly configMapGenerator: readonly { readonly name: string; readonly envs: readonly string[] }[];
};

const pod = (spec: IPodSpec | undefined) => ({ spec, container: spec?.containers[0] });
const gateway = pod(deployment.spec?.template.spec);
const migration = pod(job.spec?.template.spec);
const settings = parseEnvFile(await Bun.file(join(FOLDER, "gateway.env")).text());

type Labels = Readonly<Record<string, string>>;

/** Whether `labels` contains every label of a selector. */
const selects = (selector: { readonly matchLabels?: Labels } | undefined, labels: Labels | undefined) =>
  Object.entries(selector?.matchLabels ?? {}).every(([name, value]) => labels?.[name] === value);

/** Evaluates the policy: a rule admits a pod if one peer and one port match; without `from`, it admits everyone. */
function admits(port: string, peer: { readonly namespace: Labels; readonly pod: Labels }): boolean {
  return (policy.spec?.ingress ?? []).some(
    ({ from, ports }) =>
      (from ?? [{}]).some(
        ({ namespaceSelector, podSelector }) =>
          selects(namespaceSelector, peer.namespace) && selects(podSelector, peer.pod),
      ) && (ports ?? [{ port }]).some((admitted) => admitted.port === port),
  );
}

const inNamespace = (name: string, pod: Labels) => ({
  namespace: { "kubernetes.io/metadata.name": name },
  pod,
});
const CONTROLLER = { "app.kubernetes.io/name": "ingress-nginx", "app.kubernetes.io/component": "controller" };
const PROMETHEUS = { "app.kubernetes.io/name": "prometheus" };

describe("deploy/kubernetes", () => {
  test("every manifest matches the Kubernetes schemas", () => {
    for (const model of [
      new Deployment(deployment),
      new Job(job),
      new Service(service),
      new NetworkPolicy(policy),
    ]) {
      expect(() => model.validate()).not.toThrow();
    }
  });

  test("no manifest contains a field that Kubernetes does not define", () => {
    expect(
      typeErrorsOf([
        { type: "IDeployment", from: "kubernetes-models/apps/v1/Deployment", value: deployment },
        { type: "IJob", from: "kubernetes-models/batch/v1/Job", value: job },
        { type: "IService", from: "kubernetes-models/v1/Service", value: service },
        {
          type: "INetworkPolicy",
          from: "kubernetes-models/networking.k8s.io/v1/NetworkPolicy",
          value: policy,
        },
      ]),
    ).toEqual([]);
  });

  test("the kustomization lists every file, and the pods read the ConfigMap that it generates", () => {
    const [generator] = kustomization.configMapGenerator;
    expect(["kustomization.yaml", ...kustomization.resources, ...(generator?.envs ?? [])].sort()).toEqual(
      readdirSync(FOLDER).sort(),
    );
    for (const { container } of [gateway, migration]) {
      expect(container?.envFrom).toEqual([{ configMapRef: { name: generator?.name ?? "" } }]);
    }
  });

  test("the service accepts the settings, and each of them is a variable that it reads", () => {
    const secrets = [...(gateway.container?.env ?? []), ...(migration.container?.env ?? [])].map(
      ({ name }) => name,
    );
    // Read by Bun, not by the service.
    const { NODE_EXTRA_CA_CERTS: _, ...own } = settings;
    expect(unknownNames({ ...own, ...Object.fromEntries(secrets.map((name) => [name, ""])) })).toEqual([]);
    const required = { AUTH_SECRET_KEY: SECRET, DATABASE_URL };
    expect(secrets).toEqual(expect.arrayContaining(Object.keys(required)));
    expect(checkConfiguration({ NODE_ENV: "production", ...settings, ...required }).errors).toEqual([]);
  });

  test("no manifest contains a secret: every value comes from the cluster's secret", () => {
    for (const { container } of [gateway, migration]) {
      for (const { value, valueFrom } of container?.env ?? []) {
        expect(value).toBeUndefined();
        expect(valueFrom?.secretKeyRef?.name).toBe("latchkey");
      }
    }
  });

  test("both pods mount the CA certificate at the path that the settings name", () => {
    for (const { spec, container } of [gateway, migration]) {
      const mount = container?.volumeMounts?.find(({ name }) => name === "ca");
      const secret = spec?.volumes?.find(({ name }) => name === "ca")?.secret;
      expect(secret).toMatchObject({ secretName: "latchkey", optional: true });
      const paths = secret?.items?.map(({ path }) => `${mount?.mountPath}/${path}`);
      expect(paths).toEqual([settings.NODE_EXTRA_CA_CERTS ?? ""]);
    }
  });

  test("the kubelet probes the service's own probe routes, at the container's port", () => {
    const { startupProbe, livenessProbe, readinessProbe, ports = [] } = gateway.container ?? {};
    const probes = [startupProbe, livenessProbe, readinessProbe].map((probe) => probe?.httpGet);
    expect(probes.map((probe) => probe?.path)).toEqual(["/healthz", "/healthz", "/readyz"]);
    for (const probe of probes) expect(probe?.port).toBe("http");
    expect(ports).toEqual([
      { name: "http", containerPort: 3000 },
      { name: "metrics", containerPort: Number(settings.METRICS_PORT) },
    ]);
    expect(service.spec?.ports?.[0]?.targetPort).toBe("http");
  });

  test("Deployment, Service and NetworkPolicy select the gateway's pods, and not the migration's", () => {
    const labels = deployment.spec?.template.metadata?.labels;
    expect(deployment.spec?.selector.matchLabels).toEqual(labels);
    expect(service.spec?.selector).toEqual(labels);
    expect(policy.spec?.podSelector?.matchLabels).toEqual(labels);
    expect(job.spec?.template.metadata?.labels).not.toEqual(labels);
  });

  describe("the network policy", () => {
    test("admits the ingress controller to the service port only", () => {
      const controller = inNamespace("ingress-nginx", CONTROLLER);
      expect([admits("http", controller), admits("metrics", controller)]).toEqual([true, false]);
    });

    test("admits Prometheus to the metrics port only", () => {
      const prometheus = inNamespace("monitoring", PROMETHEUS);
      expect([admits("http", prometheus), admits("metrics", prometheus)]).toEqual([false, true]);
    });

    test.each([
      ["a pod without labels", inNamespace("default", {})],
      ["a gateway pod", inNamespace("default", deployment.spec?.template.metadata?.labels ?? {})],
      ["a pod in another namespace with the controller's labels", inNamespace("default", CONTROLLER)],
      ["a pod in another namespace with Prometheus's labels", inNamespace("default", PROMETHEUS)],
      ["another pod in the controller's namespace", inNamespace("ingress-nginx", {})],
      ["another pod in Prometheus's namespace", inNamespace("monitoring", {})],
    ])("admits %s to no port", (_, peer) => {
      expect([admits("http", peer), admits("metrics", peer)]).toEqual([false, false]);
    });

    test("restricts ingress for every port that the container declares", () => {
      expect(policy.spec?.policyTypes).toEqual(["Ingress"]);
      const admitted = policy.spec?.ingress?.flatMap(({ ports = [] }) => ports.map(({ port }) => port));
      expect(admitted).toEqual(gateway.container?.ports?.map(({ name }) => name) ?? []);
    });
  });

  test("the documented database and Redis URLs are verified TLS connections that the service accepts without a warning", async () => {
    const guide = await Bun.file(join(ROOT, "docs/production.md")).text();
    const literals = Object.fromEntries(
      [...guide.matchAll(/--from-literal=([A-Z_]+)='([^']+)'/g)].map(([, name = "", value = ""]) => [
        name,
        value,
      ]),
    );
    expect(literals.DATABASE_URL).toEndWith("?sslmode=verify-full");
    expect(literals.REDIS_URL).toStartWith("rediss://");
    const { errors, warnings } = checkConfiguration({
      NODE_ENV: "production",
      ...settings,
      AUTH_SECRET_KEY: SECRET,
      ...literals,
    });
    expect(errors).toEqual([]);
    expect(warnings.filter((warning) => /DATABASE_URL|REDIS_URL/.test(warning))).toEqual([]);
  });

  test("Kubernetes waits longer for the gateway to stop than the gateway takes", () => {
    const longest = shutdownSeconds({ ...settings, DATABASE_URL, AUTH_SECRET_KEY: SECRET });
    expect(gateway.spec?.terminationGracePeriodSeconds).toBeGreaterThan(longest);
  });

  test("both containers run without root, capabilities or a writable file system, within resource limits", () => {
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

  test("the migration job runs the admin tool", () => {
    expect(migration.container?.command).toEqual(["bun", "apps/admin/src/main.ts", "migrate"]);
  });
});
