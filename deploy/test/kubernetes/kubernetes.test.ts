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
/** The cast is safe because the first test validates the manifests against the schemas. */
const read = async <Kind>(name: string) => Bun.YAML.parse(await Bun.file(join(FOLDER, name)).text()) as Kind;

const deployment = await read<IDeployment>("deployment.yaml");
const job = await read<IJob>("migration.yaml");
const service = await read<IService>("service.yaml");
const policy = await read<INetworkPolicy>("network-policy.yaml");
const disruptionBudget = await read<IPodDisruptionBudget>("pod-disruption-budget.yaml");
const monitor = await read<IPodMonitor>("components/prometheus-operator/pod-monitor.yaml");
const scaler = await read<IScaledObject>("components/autoscaling/scaled-object.yaml");
/** The packages of the schemas that are not Kubernetes's own, by API version. */
const MODELS: Readonly<Record<string, string>> = {
  "monitoring.coreos.com/v1": "@kubernetes-models/prometheus-operator",
  "keda.sh/v1alpha1": "@kubernetes-models/keda",
};
interface Kustomization {
  readonly resources: readonly string[];
  readonly configMapGenerator: readonly { readonly name: string; readonly envs: readonly string[] }[];
}

const pod = (spec: IPodSpec | undefined) => ({ spec, container: spec?.containers[0] });
const gateway = pod(deployment.spec?.template.spec);
const migration = pod(job.spec?.template.spec);
const settings = parseEnvFile(await Bun.file(join(FOLDER, "gateway.env")).text());

const labels = deployment.spec?.template.metadata?.labels ?? {};

describe("deploy/kubernetes", () => {
  test("no manifest contains a field that its kind does not define", () => {
    const manifests = [deployment, job, service, policy, disruptionBudget, monitor, scaler];
    const values = manifests.map((value) => {
      const from = `${MODELS[value.apiVersion] ?? "kubernetes-models"}/${value.apiVersion}/${value.kind}`;
      return { type: `I${value.kind}`, from, value };
    });
    expect(typeErrorsOf(values)).toEqual([]);
  });

  test("the kustomization lists every file, and the pods read the ConfigMap that it generates", async () => {
    const { resources, configMapGenerator } = await read<Kustomization>("kustomization.yaml");
    const [generator] = configMapGenerator;
    const files = ["components", "kustomization.yaml", ...resources, ...(generator?.envs ?? [])];
    expect(files.sort()).toEqual(readdirSync(FOLDER).sort());
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
    expect(deployment.spec?.selector.matchLabels).toEqual(labels);
    expect(service.spec?.selector).toEqual(labels);
    expect(policy.spec?.podSelector?.matchLabels).toEqual(labels);
    expect(disruptionBudget.spec?.selector?.matchLabels).toEqual(labels);
    expect(monitor.spec.selector.matchLabels).toEqual(labels);
    for (const { labelSelector } of deployment.spec?.template.spec?.topologySpreadConstraints ?? []) {
      expect(labelSelector?.matchLabels).toEqual(labels);
    }
    expect(job.spec?.template.metadata?.labels).not.toEqual(labels);
    expect(policy.spec?.policyTypes).toEqual(["Ingress"]);
  });

  test("the network policy admits only the ingress controller to the service, and only Prometheus to the metrics", () => {
    const peer = (namespace: string, pod: Readonly<Record<string, string>>) => ({
      namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
      podSelector: { matchLabels: pod },
    });
    const controller = {
      "app.kubernetes.io/name": "ingress-nginx",
      "app.kubernetes.io/component": "controller",
    };
    expect<unknown>(policy.spec?.ingress).toEqual([
      { from: [peer("ingress-nginx", controller)], ports: [{ port: "http" }] },
      {
        from: [peer("monitoring", { "app.kubernetes.io/name": "prometheus" })],
        ports: [{ port: "metrics" }],
      },
    ]);
  });

  test("the documented database and Redis URLs are verified TLS connections that the service accepts without a warning", async () => {
    const guide = await Bun.file(join(ROOT, "docs/production.md")).text();
    const found = [...guide.matchAll(/--from-literal=([A-Z_]+)='([^']+)'/g)];
    const literals = Object.fromEntries(found.map(([, name = "", value = ""]) => [name, value]));
    expect(literals.DATABASE_URL).toEndWith("?sslmode=verify-full");
    expect(literals.REDIS_URL).toStartWith("rediss://");
    const variables = { NODE_ENV: "production", ...settings, AUTH_SECRET_KEY: SECRET, ...literals };
    const { errors, warnings } = checkConfiguration(variables);
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

  test("the migration fails at once with an exit code that a repetition does not change", () => {
    const command = [process.execPath, ...(migration.container?.command?.slice(1) ?? [])];
    const { exitCode } = Bun.spawnSync(command, { cwd: ROOT, env: { NODE_ENV: "production" } });
    expect(exitCode).toBe(EXIT.config);
    const [, rule] = job.spec?.podFailurePolicy?.rules ?? [];
    expect(rule).toMatchObject({ action: "FailJob", onExitCodes: { containerName: "migration" } });
    expect(rule?.onExitCodes?.values).toEqual([EXIT.dataError, EXIT.config]);
  });

  test("autoscaling stays within the connections of a PostgreSQL server with default settings", () => {
    const { scaleTargetRef, maxReplicaCount } = scaler.spec;
    expect(scaleTargetRef.name).toBe(deployment.metadata?.name ?? "");
    const connections = connectionsOf(Number(maxReplicaCount), Number(settings.DATABASE_POOL_SIZE));
    expect(connections).toBeGreaterThan(0);
    expect(connections).toBeLessThanOrEqual(100 - RESERVED_CONNECTIONS);
  });

  promtoolTest("autoscaling sums queue seconds and utilization of three replicas", async () => {
    await using folder = await openFolder();
    const write = async (name: string, content: object) => {
      await Bun.write(join(folder.path, name), JSON.stringify(content));
      return join(folder.path, name);
    };
    const rules = scaler.spec.triggers.map(({ metadata }, index) => ({
      record: `trigger:${index}`,
      expr: metadata.query,
    }));
    const series = (name: string, values: string) =>
      [1, 2, 3].map((pod) => ({ series: `${name}{job="accounts/latchkey", instance="${pod}"}`, values }));
    const expected = (name: string, value: number) => ({
      ...{ expr: name, eval_time: "5m" },
      exp_samples: [{ labels: `{__name__="${name}"}`, value }],
    });
    const tests = {
      interval: "15s",
      input_series: [
        ...series("hash_queue_length", "20x40"),
        ...series("hash_capacity_per_second", "40x40"),
        ...series("hash_derivations_total", "0+150x40"),
      ],
      // 20 waiting derivations, and 600 derivations per minute, at 40 per second, three times.
      promql_expr_test: [expected("trigger:0", 1.5), expected("trigger:1", 0.75)],
    };
    const rule_files = [await write("rules.yaml", { groups: [{ name: "a", rules }] })];
    const file = await write("test.yaml", { rule_files, evaluation_interval: "15s", tests: [tests] });
    expect(promtool("test", "rules", file)).toMatchObject({ code: 0 });
  });
});
