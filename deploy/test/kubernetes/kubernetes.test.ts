/** deploy/kubernetes: contains only fields that Kubernetes defines, and starts the service. */
import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { IScaledObject } from "@kubernetes-models/keda/keda.sh/v1alpha1/ScaledObject";
import type { IPodMonitor } from "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PodMonitor";
import { EXIT } from "@latchkey/cli";
import { openFolder } from "@latchkey/testing/folder";
import { inFullRun } from "@latchkey/testing/full-run";
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
  SECRET,
  shutdownSeconds,
  unknownNames,
} from "../configuration.ts";
import { promtool, promtoolTest } from "../promtool.ts";
import { typeErrorsOf } from "./types.ts";

// One test compiles the types of all of Kubernetes.
const FOLDER = join(ROOT, "deploy/kubernetes");
/** The cast is safe because the first test compiles the manifests as literals of their types. */
const read = async <Kind>(name: string) => Bun.YAML.parse(await Bun.file(join(FOLDER, name)).text()) as Kind;

const deployment = await read<IDeployment>("deployment.yaml");
const job = await read<IJob>("migration.yaml");
const service = await read<IService>("service.yaml");
const policy = await read<INetworkPolicy>("network-policy.yaml");
const disruptionBudget = await read<IPodDisruptionBudget>("pod-disruption-budget.yaml");
const monitor = await read<IPodMonitor>("components/prometheus-operator/pod-monitor.yaml");
const scaler = await read<IScaledObject>("components/autoscaling/scaled-object.yaml");
const adminService = await read<IService>("components/administration/service.yaml");
const adminPolicy = await read<INetworkPolicy>("components/administration/network-policy.yaml");
const { patches } = await read<{ readonly patches: readonly { readonly patch: string }[] }>(
  "components/administration/kustomization.yaml",
);
const { resources, configMapGenerator } = await read<{
  readonly resources: readonly string[];
  readonly configMapGenerator: readonly { readonly name: string; readonly envs: readonly string[] }[];
}>("kustomization.yaml");
const [configMap] = configMapGenerator;

const pod = (spec: IPodSpec | undefined) => ({ spec, container: spec?.containers[0] });
const gateway = pod(deployment.spec?.template.spec);
const migration = pod(job.spec?.template.spec);
const labels = deployment.spec?.template.metadata?.labels ?? {};

const settings = parseEnvFile(await Bun.file(join(FOLDER, "gateway.env")).text());
const guide = await Bun.file(join(ROOT, "docs/production.md")).text();
const literals = [...guide.matchAll(/--from-literal=([A-Z_]+)='([^']+)'/g)];
const secrets = Object.fromEntries(literals.map(([, name = "", value = ""]) => [name, value]));
const required = { NODE_ENV: "production", AUTH_SECRET_KEY: SECRET };
const KEYS = { ADMIN_API_KEYS: `shop:${"k".repeat(32)}` };
const checked = checkConfiguration({ ...required, ...settings, ...secrets });

inFullRun(test)("no manifest contains a field that its kind does not define", () => {
  const administration = [adminService, adminPolicy];
  const manifests = [deployment, job, service, policy, disruptionBudget, monitor, scaler, ...administration];
  expect(typeErrorsOf(manifests)).toEqual([]);
});

test("the kustomization lists every file", () => {
  const files = ["components", "kustomization.yaml", ...resources, ...(configMap?.envs ?? [])];
  expect(files.sort()).toEqual(readdirSync(FOLDER).sort());
});

test("the service reads all settings, and accepts the documented URLs, which are verified TLS connections, without a warning", () => {
  // Read by Bun, not by the service.
  const { NODE_EXTRA_CA_CERTS: _, ...own } = settings;
  expect(unknownNames(own)).toEqual([]);
  expect(secrets.DATABASE_URL).toEndWith("?sslmode=verify-full");
  expect(secrets.REDIS_URL).toStartWith("rediss://");
  expect(checked.errors).toEqual([]);
  expect(checked.warnings.filter((warning) => /DATABASE_URL|REDIS_URL/.test(warning))).toEqual([]);
});

const secretKeyRef = { name: "latchkey", key: "DATABASE_URL" };
describe.each([
  ["gateway", gateway, [{ secretRef: { name: "latchkey" } }], undefined],
  ["migration", migration, [], [{ name: "DATABASE_URL", valueFrom: { secretKeyRef } }]],
])("%s", (_, { spec, container }, secretRefs, env) => {
  test("it reads the ConfigMap that the kustomization generates, and from the secret only what it needs", () => {
    const configMapRef = { name: configMap?.name ?? "" };
    expect([container?.envFrom, container?.env]).toEqual([[{ configMapRef }, ...secretRefs], env]);
  });

  test("it mounts the CA certificate at the path that the settings name", () => {
    const mount = container?.volumeMounts?.find(({ name }) => name === "ca");
    const secret = spec?.volumes?.find(({ name }) => name === "ca")?.secret;
    expect(secret).toMatchObject({ secretName: "latchkey", optional: true });
    const paths = secret?.items?.map(({ path }) => `${mount?.mountPath}/${path}`);
    expect(paths).toEqual([settings.NODE_EXTRA_CA_CERTS ?? ""]);
  });

  test("it runs without root, capabilities, a service account token or a writable file system, within resource limits", () => {
    expect(spec?.securityContext?.runAsNonRoot).toBe(true);
    expect(spec?.automountServiceAccountToken).toBe(false);
    expect(container?.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    expect(container?.resources?.limits).toContainAllKeys(["cpu", "memory"]);
    expect(container?.resources?.requests).toEqual(container?.resources?.limits ?? {});
  });
});

test("the kubelet probes the service's own probe routes, at the container's port", () => {
  const { startupProbe, livenessProbe, readinessProbe, ports = [] } = gateway.container ?? {};
  const probes = [startupProbe, livenessProbe, readinessProbe].map((probe) => probe?.httpGet);
  const [alive, ready] = ["/healthz", "/readyz"].map((path) => ({ path, port: "http" }));
  expect<unknown>(probes).toEqual([alive, alive, ready]);
  expect(ports).toEqual([
    { name: "http", containerPort: 3000 },
    { name: "metrics", containerPort: Number(settings.METRICS_PORT) },
  ]);
  expect(service.spec?.ports?.[0]?.targetPort).toBe("http");
});

test("each selector selects the gateway's pods, and not the migration's", () => {
  const selectors = [
    deployment.spec?.selector,
    policy.spec?.podSelector,
    disruptionBudget.spec?.selector,
    monitor.spec.selector,
    ...(gateway.spec?.topologySpreadConstraints ?? []).map(({ labelSelector }) => labelSelector),
  ];
  for (const selector of selectors) expect(selector?.matchLabels).toEqual(labels);
  expect(service.spec?.selector).toEqual(labels);
  expect(job.spec?.template.metadata?.labels).not.toEqual(labels);
});

test("the network policy admits only the ingress controller to the service, and only Prometheus to the metrics", () => {
  expect(policy.spec?.policyTypes).toEqual(["Ingress"]);
  const peer = (namespace: string, name: string, labels = {}) => ({
    namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
    podSelector: { matchLabels: { "app.kubernetes.io/name": name, ...labels } },
  });
  const controller = peer("ingress-nginx", "ingress-nginx", { "app.kubernetes.io/component": "controller" });
  expect<unknown>(policy.spec?.ingress).toEqual([
    { from: [controller], ports: [{ port: "http" }] },
    { from: [peer("monitoring", "prometheus")], ports: [{ port: "metrics" }] },
  ]);
});

test("only pods with the label of the administration reach its port, through a Service of its own", () => {
  type Operation<Value> = { readonly value: Value };
  const [addPort, addVariables] = Bun.YAML.parse(patches[0]?.patch ?? "") as [
    Operation<unknown>,
    Operation<readonly { readonly name: string; readonly value: string }[]>,
  ];
  const variables = Object.fromEntries(addVariables.value.map(({ name, value }) => [name, value]));
  expect(addPort.value).toEqual({ name: "admin", containerPort: Number(variables.ADMIN_PORT) });
  const checkedWith = checkConfiguration({ ...required, ...settings, ...secrets, ...variables, ...KEYS });
  expect(checkedWith.errors).toEqual([]);
  const portsOf = ({ spec }: IService) => spec?.ports?.map(({ targetPort }) => targetPort);
  expect([portsOf(service), portsOf(adminService)]).toEqual([["http"], ["admin"]]);
  expect(adminService.spec?.selector).toEqual(labels);
  expect<unknown>(adminPolicy.spec).toEqual({
    podSelector: { matchLabels: labels },
    policyTypes: ["Ingress"],
    ingress: [
      { from: [{ podSelector: { matchLabels: { "latchkey-admin": "true" } } }], ports: [{ port: "admin" }] },
    ],
  });
});

test("Kubernetes waits longer for the gateway to stop than the gateway takes", () => {
  expect(gateway.spec?.terminationGracePeriodSeconds).toBeGreaterThan(shutdownSeconds(checked));
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
  expect(connections).toBeLessThanOrEqual(100);
});

promtoolTest("autoscaling sums queue seconds and utilization of three replicas", async () => {
  await using folder = await openFolder();
  const series = (name: string, values: string) =>
    [1, 2, 3].map((pod) => ({ series: `${name}{job="accounts/latchkey", instance="${pod}"}`, values }));
  const test = {
    interval: "15s",
    input_series: [
      ...series("hash_queue_length", "20x40"),
      ...series("hash_capacity_per_second", "40x40"),
      ...series("hash_derivations_total", "0+150x40"),
    ],
    // 20 waiting derivations, and 600 derivations per minute, at 40 per second, three times.
    promql_expr_test: [1.5, 0.75].map((value, index) => ({
      expr: scaler.spec.triggers[index]?.metadata.query,
      eval_time: "5m",
      exp_samples: [{ labels: "{}", value }],
    })),
  };
  const file = join(folder.path, "test.yaml");
  await Bun.write(file, JSON.stringify({ evaluation_interval: "15s", tests: [test] }));
  expect(promtool("test", "rules", file)).toMatchObject({ code: 0 });
});
