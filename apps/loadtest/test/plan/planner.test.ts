/** The planner: its arithmetic and its bounds. */
import { describe, expect, test } from "bun:test";
import { post } from "@latchkey/testing/service-process";
import { createPlan, type PlanOptions, QUERIES_PER_LOGIN, storesOf } from "../../src/plan/planner.ts";
import { createServiceModel, withWorkers } from "../../src/plan/service-model.ts";
import { startUnlimited } from "../support/unlimited-service.ts";

const asked: PlanOptions = {
  loginsPerSecond: 1000,
  p99Ms: 600,
  headroomPercent: 20,
  poolSize: 10,
  maxConnections: 100,
};
const curve = [1, 2, 4, 8, 16, 32].map((concurrency) => ({
  concurrency,
  perSecond: (100 * concurrency) / (concurrency + 4),
}));
const service = createServiceModel({ curve, workers: 2, lanes: 16 });

describe("a plan", () => {
  const plan = createPlan(asked, service);

  test("has replicas for the load with headroom, and one spare", () => {
    const { replicas, cores, replica } = plan;
    expect(replicas).toBe(Math.ceil(1000 / (0.8 * replica.highestPerSecond)) + 1);
    expect(replica.perSecond).toBeCloseTo(1000 / (replicas - 1), 9);
    expect(replica.perSecond).toBeLessThanOrEqual(0.8 * replica.highestPerSecond);
    expect(cores).toBe(2 * replicas);
  });

  test("predicts a latency within the bound, with a mean below that of the formula", () => {
    const { simulated, meanByFormulaMs, utilisation, shedProbability } = plan.prediction;
    expect(simulated.p99.low).toBeLessThanOrEqual(simulated.p99.middle);
    expect(simulated.p99.high).toBeLessThanOrEqual(asked.p99Ms);
    // The formula does not include the wait for the end of a slice, half a slice on average.
    expect(simulated.meanMs.middle).toBeLessThan(6 + meanByFormulaMs);
    expect(simulated.meanMs.middle).toBeGreaterThan(0.5 * meanByFormulaMs);
    expect(utilisation).toBeCloseTo(plan.replica.perSecond / plan.replica.capacityPerSecond, 12);
    expect(shedProbability).toBeLessThan(1e-6);
  });

  test("needs more replicas for a tighter bound, and fewer cores with larger replicas", () => {
    const tight = createPlan({ ...asked, p99Ms: 150 }, service);
    expect(tight.replicas).toBeGreaterThan(plan.replicas);
    const large = createPlan({ ...asked, p99Ms: 150 }, withWorkers(service, 8));
    expect(large.cores).toBeLessThan(tight.cores);
  });

  test("is deterministic", () => {
    expect(createPlan(asked, service)).toEqual(plan);
  });

  test("is rejected for a bound below the duration of one login", () => {
    const impossible = () => createPlan({ ...asked, p99Ms: 40 }, service);
    expect(impossible).toThrow(
      /^No number of replicas has a p99 of 40 ms: an almost idle replica has \d+ ms\.$/,
    );
  });
});

describe("the stores", () => {
  test("handle two queries and two scripts per login, and twice the connections while pools are replaced", () => {
    expect(storesOf({ ...asked, loginsPerSecond: 500 }, 4)).toEqual({
      postgres: {
        queriesPerSecond: 1000,
        connections: 40,
        connectionsAtMost: 80,
        maxConnections: 100,
        isTooMany: false,
      },
      redis: { scriptsPerSecond: 1000 },
      memoryMegabytes: 600,
    });
  });

  test("handle as many queries per login as the service sends", async () => {
    await using service = await startUnlimited({ METRICS_PORT: "0" });
    const user = { email: "ada@example.org", username: "ada", password: "correct horse battery" };
    await post(`${service.url}/auth/register`, user);
    const countQueries = async (): Promise<number> => {
      const text = await (await fetch(service.metrics)).text();
      const counts = text.matchAll(
        /^database_query_duration_seconds_count\{operation="users\.[^}]+\} (\d+)$/gm,
      );
      return counts.reduce((sum, [, count]) => sum + Number(count), 0);
    };
    const before = await countQueries();
    expect((await post(`${service.url}/auth/login`, user)).status).toBe(200);
    expect((await countQueries()) - before).toBe(QUERIES_PER_LOGIN);
  });

  test("report too many connections", () => {
    const { postgres } = storesOf(asked, 5);
    expect(postgres).toMatchObject({ connectionsAtMost: 100, isTooMany: true });
  });
});
