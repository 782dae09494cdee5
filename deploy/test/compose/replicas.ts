/** Real gateways that share one database, behind the balancer. */
import { openFolder } from "@latchkey/testing/folder";
import { PATIENT_HASHING, type StartOptions, startProcess } from "@latchkey/testing/service-process";
import { SECRET } from "../configuration.ts";
import { type BalancerOptions, startBalancer } from "./balancer.ts";

interface ReplicasOptions extends Omit<BalancerOptions, "addresses" | "environment"> {
  /** Number of gateways. @default 2 */
  readonly count?: number;
  /** Variables of the gateways and of the balancer. @default TRUST_PROXY is 1: the balancer */
  readonly environment?: Readonly<Record<string, string>>;
}

type GatewaysOptions = Pick<ReplicasOptions, "count" | "environment"> & Pick<StartOptions, "main">;

/** Starts gateways that share one database, without a balancer. */
export async function startGateways({ count = 2, environment = {}, main }: GatewaysOptions = {}) {
  await using resources = new AsyncDisposableStack();
  const folder = resources.use(await openFolder());
  const shared = { NODE_ENV: "production", AUTH_SECRET_KEY: SECRET, DATABASE_URL: folder.databaseUrl };
  const env = { ...PATIENT_HASHING, ...shared, TRUST_PROXY: "1", ...environment };
  const gateways = Array.from({ length: count }, () =>
    resources.use(startProcess(env, main === undefined ? {} : { main })),
  );
  const urls = await Promise.all(gateways.map((gateway) => gateway.ready()));
  const addresses = urls.map((url) => new URL(url).host);
  return Object.assign(resources.move(), { addresses, gateways });
}

/** @returns the port of the balancer on 127.0.0.1 and ::1, and the gateways */
export async function startReplicas({ count = 2, environment = {}, ...options }: ReplicasOptions = {}) {
  await using resources = new AsyncDisposableStack();
  const { addresses, gateways } = resources.use(await startGateways({ count, environment }));
  const { port } = resources.use(await startBalancer({ addresses, environment, ...options }));
  return Object.assign(resources.move(), { port, gateways });
}
