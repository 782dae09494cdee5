/** What a run came to, and how a person reads it. */
import type { Arguments } from "./arguments.ts";
import type { LoginLoad } from "./login-load.ts";
import type { Percentiles } from "./percentiles.ts";
import type { ProbeReport } from "./probe-stream.ts";

export interface Report
  extends Pick<Arguments, "url" | "scenario" | "concurrency" | "durationSeconds" | "users"> {
  readonly logins: LoginLoad;
  readonly probe: ProbeReport;
}

const milliseconds = (latency: Percentiles | null): string =>
  latency === null
    ? "no answer"
    : `p50 ${latency.p50} ms, p95 ${latency.p95} ms, p99 ${latency.p99} ms, longest ${latency.max} ms`;

export function describeReport({ url, concurrency, durationSeconds, users, logins, probe }: Report): string {
  const statuses = Object.entries(logins.statuses).map(([status, count]) => `${status} × ${count}`);
  const lines = [
    `${url}: ${concurrency} clients, ${users} accounts, ${durationSeconds} s`,
    `logins   ${logins.perSecond}/s; ${milliseconds(logins.latency)}`,
    `answers  ${statuses.join(", ") || "none"}`,
    `/healthz every 5 ms: ${probe.count} answers; ${milliseconds(probe.latency)}`,
  ];
  if (probe.failure !== null) lines.push(`The probes ended early: ${probe.failure}`);
  return `${lines.join("\n")}\n`;
}
