/** The requests that each scenario sends. */
import { expect, test } from "bun:test";
import type { LoadRequest } from "../../src/load/http-client.ts";
import type { RunOptions } from "../../src/load/scenarios.ts";
import { createRequests, createTestUsers, SCENARIOS, scenarioNames } from "../../src/load/scenarios.ts";
import { runOptionsOf } from "../support/run-options.ts";

const users = createTestUsers();

function draw(options: Partial<RunOptions>, count = 10_000): readonly LoadRequest[] {
  const asked = runOptionsOf({ url: "http://127.0.0.1", users: 50, ...options });
  const next = createRequests(asked, users, ["one", "two"]);
  return Array.from({ length: count }, next);
}
const share = (requests: readonly LoadRequest[], is: (request: LoadRequest) => boolean): number =>
  requests.filter(is).length / requests.length;
const bodyOf = ({ body }: LoadRequest) => JSON.parse(body ?? "{}");

test.each(scenarioNames())("the scenario %s sends its operations with their percentages", (scenario) => {
  const requests = draw({ scenario });
  const operations = new Set<string>(requests.map(({ operation }) => operation));
  expect(operations).toEqual(new Set(Object.keys(SCENARIOS[scenario])));
  for (const [name, percent] of Object.entries(SCENARIOS[scenario]))
    expect(share(requests, ({ operation }) => operation === name)).toBeCloseTo(percent / 100, 1);
});

test("logins use all users, and equal seeds give equal requests", () => {
  const requests = draw({ seed: 7 });
  expect(new Set(requests.map((request) => bodyOf(request).email)).size).toBe(50);
  expect(share(requests, ({ expected, operation }) => expected === 200 && operation === "login")).toBe(1);
  expect(draw({ seed: 7 })).toEqual(requests);
  expect(draw({ seed: 8 })).not.toEqual(requests);
});

test("unknown addresses and wrong passwords have their percentages and expect 401", () => {
  const requests = draw({ unknownPercent: 20, wrongPercent: 10 });
  const isUnknown = (request: LoadRequest) => bodyOf(request).email.startsWith("unknown-");
  const isWrong = (request: LoadRequest) => bodyOf(request).password !== users.userOf(0).password;
  expect(share(requests, isUnknown)).toBeCloseTo(0.2, 1);
  expect(share(requests, isWrong)).toBeCloseTo(0.1, 1);
  for (const request of requests)
    expect(request.expected).toBe(isUnknown(request) || isWrong(request) ? 401 : 200);
});

test("reads use every token", () => {
  const tokens = draw({ scenario: "read" }).flatMap(({ headers: { authorization } }) => authorization ?? []);
  expect(new Set(tokens)).toEqual(new Set(["Bearer one", "Bearer two"]));
});

test("registrations have unique usernames of valid length", () => {
  const requests = draw({ scenario: "register", seed: 1_000_000_000 });
  const usernames = requests.map((request) => bodyOf(request).username);
  expect(new Set(usernames).size).toBe(requests.length);
  for (const username of usernames) expect(username.length).toBeLessThanOrEqual(32);
});
