/** The dashboard, the alert rules and the runbook use only metrics that the service exposes. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { SECRET_KEY } from "@latchkey/testing/keys";
import { ROOT } from "@latchkey/testing/repository";
import { post } from "@latchkey/testing/service-process";
import { AUDIT_EVENTS } from "../../src/observability/audit.ts";
import { type Exposition, scrape } from "../support/exposition.ts";
import { parseExpression } from "../support/promql.ts";
import { startInFolder } from "../support/service-process.ts";
import { migratedPostgresServer } from "../support/shared-resources.ts";

const read = (path: string) => Bun.file(join(ROOT, path)).text();

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly runbook_url: string };
}
interface Panel {
  readonly title: string;
  readonly type: string;
  readonly targets?: readonly { readonly expr: string }[];
}

const alerts = (
  Bun.YAML.parse(await read("deploy/observability/alerts.yaml")) as { groups: { rules: Alert[] }[] }
).groups.flatMap(({ rules }) => rules);
const { panels } = JSON.parse(await read("deploy/observability/dashboard.json")) as { panels: Panel[] };
const runbook = await read("docs/operations.md");

/** Added by Prometheus to every sample. */
const TARGET_LABELS = ["job", "instance"];

/** The metrics of a service after a few requests. An embedded database has no pool. */
async function exposed(): Promise<Exposition> {
  const server = await migratedPostgresServer();
  await using service = await startInFolder({
    ...{ DATABASE_URL: await server.createMigrated(), AUTH_SECRET_KEY: SECRET_KEY },
    ...{ METRICS_PORT: "0", REDIS_URL: "redis://127.0.0.1:1" },
  });
  const ready = await service.line("ready");
  await post(`${ready.url}/auth/login`, { email: "nobody@example.org", password: "x" });
  await fetch(`${ready.url}/healthz`);
  return await scrape(ready);
}
const exposition = await exposed();

/** The metrics that the service defines. */
const ours = [...exposition.families.keys()].filter((name) =>
  /^(http|hash|database|mail|log|rate_limit)_/.test(name),
);
/** The labels of each metric. */
const labelsOf = new Map<string, Set<string>>([["up", new Set()]]);
for (const { name, labels } of exposition.samples) {
  labelsOf.set(name, new Set([...(labelsOf.get(name) ?? []), ...Object.keys(labels)]));
}

/** The errors of an expression. */
function errorsOf(expression: string): string[] {
  const { selectors, groupings } = parseExpression(expression.replaceAll('"$job"', '"x"'));
  const known = new Set(TARGET_LABELS);
  const errors = selectors.flatMap(({ metric, labels }) => {
    const ownLabels = labelsOf.get(metric);
    if (!ownLabels) return [`there is no metric ${metric}`];
    for (const label of ownLabels) known.add(label);
    const unknown = labels.filter((label) => !ownLabels.has(label) && !TARGET_LABELS.includes(label));
    return unknown.map((label) => `${metric} has no label ${label}`);
  });
  if (selectors.length === 0) errors.push("it uses no metric");
  return [
    ...errors,
    ...groupings.filter((label) => !known.has(label)).map((label) => `no metric has ${label}`),
  ];
}

test.each([
  ['sum(rate(hash_nothing_total{job="x"}[5m]))', "there is no metric hash_nothing_total"],
  ['hash_kernel_info{core="1"}', "hash_kernel_info has no label core"],
  ["sum by (user) (hash_lanes)", "no metric has user"],
  ["1 > 0.5", "it uses no metric"],
])("the expression %s has the error: %s", (expression, error) => {
  expect(errorsOf(expression)).toEqual([error]);
});

describe("alert rules", () => {
  test.each(alerts.map(({ alert, ...rule }) => [alert, rule] as const))(
    "%s uses metrics that exist, and links to its section of the runbook",
    (_name, { expr, annotations }) => {
      expect(errorsOf(expr)).toEqual([]);
      const [file, anchor] = annotations.runbook_url.split("#");
      expect(file).toBe("docs/operations.md");
      const anchors = [...runbook.matchAll(/^## (.+)$/gm)].map(([, title = ""]) =>
        title
          .toLowerCase()
          .replace(/[^\w\s-]/g, "")
          .replaceAll(" ", "-"),
      );
      expect(anchors).toContain(anchor ?? "");
    },
  );
});

describe("dashboard", () => {
  const graphs = panels.filter(({ type }) => type !== "row");

  test.each(graphs.map(({ title, targets = [] }) => [title, targets] as const))(
    "%s uses metrics that exist",
    (_title, targets) => {
      expect(targets.length).toBeGreaterThan(0);
      for (const { expr } of targets) expect([expr, errorsOf(expr)]).toEqual([expr, []]);
    },
  );

  test("shows every metric of the service", () => {
    const shown = graphs.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)).join("\n");
    expect(ours.filter((name) => !shown.includes(name))).toEqual([]);
  });
});

test("alerts and panels select events that exist", () => {
  const expressions = [...alerts, ...panels.flatMap(({ targets = [] }) => targets)].map(({ expr }) => expr);
  const selected = [...expressions.join("\n").matchAll(/event=~?"([^"]+)"/g)].map(
    ([, events = ""]) => events,
  );
  expect(selected).toContain("admin.key_rejected");
  for (const events of selected)
    expect([events, AUDIT_EVENTS.some((event) => new RegExp(`^(${events})$`).test(event))]).toEqual([
      events,
      true,
    ]);
});

describe("runbook", () => {
  test("mentions only metrics that exist", async () => {
    const words = [
      ...runbook.matchAll(
        /`((?:http_request|hash|database|mail|log_lines|rate_limit|process|nodejs)_[a-z0-9_]+)/g,
      ),
    ];
    const names = new Set(words.map(([, name = ""]) => name));
    const known = (name: string) => labelsOf.has(name) || exposition.families.has(name);
    expect([...names].filter((name) => !known(name))).toEqual([]);
    expect(names.size).toBeGreaterThan(12);
  });

  test("names every event", () => {
    expect(AUDIT_EVENTS.filter((event) => !runbook.includes(`\`${event}\``))).toEqual([]);
  });

  test("explains every metric of the service", () => {
    expect(ours.filter((name) => !runbook.includes(`\`${name}`))).toEqual([]);
  });
});
