/** deploy/kubernetes: matches the published schemas, contains only fields they define, and starts the service. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { IScaledObject } from "@kubernetes-models/keda/keda.sh/v1alpha1/ScaledObject";
import type { IPodMonitor } from "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PodMonitor";
import { EXIT } from "@latchkey/cli";
import { openFolder } from "@latchkey/testing/folder";
import { ROOT } from "@latchkey/testing/repository";
import type { IDeployment } from "kubernetes-models/apps/v1/Deployment";
import type { IJob } from "kubernetes-models/batch/v1/Job";
import type { INetworkPolicy } from "kubernetes-models/networking.k8s.io/v1/NetworkPolicy";
import type { IPodDisruptionBudget } from "kubernetes-models/policy/v1/PodDisruptionBudget";
import type { IPodSpec } from "kubernetes-models/v1/PodSpec";
import type { IService } from "kubernetes-models/v1/Service";
import { parseEnvFile } from "../compose/compose-file.ts";
import {
  checkConfiguration,
  connectionsOf,
  DATABASE_URL,
  RESERVED_CONNECTIONS,
  SECRET,
  shutdownSeconds,
  unknownNames,
} from "../configuration.ts";
import { promtool, promtoolTest } from "../promtool.ts";
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
const disruptionBudget = (await read("pod-disruption-budget.yaml")) as IPodDisruptionBudget;
const monitor = (await read("components/prometheus-operator/pod-monitor.yaml")) as IPodMonitor;
const scaler = (await read("components/autoscaling/scaled-object.yaml")) as IScaledObject;
/** The packages of the schemas that are not Kubernetes's own, by API version. */
const MODELS: Readonly<Record<string, string>> = {
  "monitoring.coreos.com/v1": "@kubernetes-models/prometheus-operator",
  "keda.sh/v1alpha1": "@kubernetes-models/keda",
};
interface Kustomization {
  readonly resources: readonly string[];
  readonly configMapGenerator: readonly {
    readonly name: string;
    readonly envs: readonly string[];
    readonly options: { readonly annotations: Labels };
  }[];
}
const kustomization = (await read("kustomization.yaml")) as Kustomization;

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
  test("no manifest contains a field that its kind does not define", () => {
    const manifests = [deployment, job, service, policy, disruptionBudget, monitor, scaler];
    const values = manifests.map((value) => {
      const from = `${MODELS[value.apiVersion] ?? "kubernetes-models"}/${value.apiVersion}/${value.kind}`;
      return { type: `I${value.kind}`, from, value };
    });
    expect(typeErrorsOf(values)).toEqual([]);
  });

  test("the kustomization lists every file, and the pods read the ConfigMap that it generates", () => {
    const [generator] = kustomization.configMapGenerator;
    expect(
      ["components", "kustomization.yaml", ...kustomization.resources, ...(generator?.envs ?? [])].sort(),
    ).toEqual(readdirSync(FOLDER).sort());
    for (const { container } of [gateway, migration]) {
      expect(container?.envFrom?.[0]).toEqual({ configMapRef: { name: generator?.name ?? "" } });
    }
  });

  test("the service accepts the settings, and each of them is a variable that it reads", () => {
    // Read by Bun, not by the service.
    const { NODE_EXTRA_CA_CERTS: _, ...own } = settings;
    expect(unknownNames(own)).toEqual([]);
    const required = { AUTH_SECRET_KEY: SECRET, DATABASE_URL };
    expect(checkConfiguration({ NODE_ENV: "production", ...settings, ...required }).errors).toEqual([]);
  });

  test("the gateway reads every secret of the cluster, and the migration only the address of the database", () => {
    expect([gateway.container?.envFrom?.slice(1), gateway.container?.env]).toEqual([
      [{ secretRef: { name: "latchkey" } }],
      undefined,
    ]);
    const secretKeyRef = { name: "latchkey", key: "DATABASE_URL" };
    expect([migration.container?.envFrom?.slice(1), migration.container?.env]).toEqual([
      [],
      [{ name: "DATABASE_URL", valueFrom: { secretKeyRef } }],
    ]);
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

  test("each selector selects the gateway's pods, and not the migration's", () => {
    const labels = deployment.spec?.template.metadata?.labels;
    expect(deployment.spec?.selector.matchLabels).toEqual(labels);
    expect(service.spec?.selector).toEqual(labels);
    expect(policy.spec?.podSelector?.matchLabels).toEqual(labels);
    expect(disruptionBudget.spec?.selector?.matchLabels).toEqual(labels);
    expect(monitor.spec.selector.matchLabels).toEqual(labels);
    for (const { labelSelector } of deployment.spec?.template.spec?.topologySpreadConstraints ?? []) {
      expect(labelSelector?.matchLabels).toEqual(labels);
    }
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
      expect(container?.resources?.limits).toContainAllKeys(["cpu", "memory"]);
      expect(container?.resources?.requests).toEqual(container?.resources?.limits ?? {});
    }
  });

  describe("the migration job", () => {
    test("fails at once with the exit code of an invalid configuration, and repeats after other failures", async () => {
      const child = Bun.spawnSync([process.execPath, ...(migration.container?.command?.slice(1) ?? [])], {
        cwd: ROOT,
        env: { NODE_ENV: "production", DATABASE_URL: "mysql://latchkey@db.example.internal/latchkey" },
      });
      const [, rule] = job.spec?.podFailurePolicy?.rules ?? [];
      expect(rule).toMatchObject({ action: "FailJob", onExitCodes: { containerName: "migration" } });
      expect(rule?.onExitCodes?.values).toEqual([EXIT.dataError, EXIT.config]);
      expect(child.exitCode).toBe(EXIT.config);
    });
  });

  describe("autoscaling", () => {
    const triggers = scaler.spec.triggers.map(({ metadata }) => metadata);

    test("scales the Deployment within the connections of a PostgreSQL server with default settings", () => {
      expect(scaler.spec.scaleTargetRef.name).toBe(deployment.metadata?.name ?? "");
      const connections = connectionsOf(
        Number(scaler.spec.maxReplicaCount),
        Number(settings.DATABASE_POOL_SIZE),
      );
      expect(connections).toBeGreaterThan(0);
      expect(connections).toBeLessThanOrEqual(100 - RESERVED_CONNECTIONS);
    });

    promtoolTest("the queries sum queue seconds and utilization of three replicas", async () => {
      await using folder = await openFolder();
      const series = (pod: number, name: string, values: string) => ({
        series: `${name}{job="accounts/latchkey", instance="${pod}"}`,
        values,
      });
      const rules = triggers.map(({ query }, index) => ({ record: `trigger:${index}`, expr: query }));
      const rule_files = [join(folder.path, "rules.yaml")];
      await Bun.write(join(folder.path, "rules.yaml"), JSON.stringify({ groups: [{ name: "a", rules }] }));
      const expected = [
        // 20 waiting derivations at 40 per second, three times.
        [1.5, "trigger:0"],
        // 600 derivations per minute at 40 per second, three times.
        [0.75, "trigger:1"],
      ] as const;
      const tests = {
        interval: "15s",
        input_series: [1, 2, 3].flatMap((pod) => [
          series(pod, "hash_queue_length", "20x40"),
          series(pod, "hash_capacity_per_second", "40x40"),
          series(pod, "hash_derivations_total", "0+150x40"),
        ]),
        promql_expr_test: expected.map(([value, name]) => ({
          expr: name,
          eval_time: "5m",
          exp_samples: [{ labels: `{__name__="${name}"}`, value }],
        })),
      };
      await Bun.write(
        join(folder.path, "test.yaml"),
        JSON.stringify({ rule_files, evaluation_interval: "15s", tests: [tests] }),
      );
      expect(promtool("test", "rules", join(folder.path, "test.yaml"))).toMatchObject({ code: 0 });
    });
  });
});
