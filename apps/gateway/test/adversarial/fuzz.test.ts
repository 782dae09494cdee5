/** Thousands of hostile requests against the whole service; the seed always produces the same ones. */
import { expect, test } from "bun:test";
import { isFullRun } from "@latchkey/testing/full-run";
import fc from "fast-check";
import { startService } from "../support/service.ts";
import { openWire, type Wire } from "../support/wire.ts";
import { violationsOf } from "./fuzz/oracle.ts";
import { encodeRequest, type HostileRequest, hostileRequest } from "./fuzz/requests.ts";
import { SECRET } from "./fuzz/values.ts";

/** The first 800 cause every status. */
const REQUESTS = isFullRun ? 5_000 : 800;
const SEED = 20_011;
/** After this many requests, the service must still work for other clients. */
const CHECK_EVERY = 500;

test("hostile requests of every kind get a response without internals, and the service keeps working", async () => {
  await using service = await startService();
  const statuses = new Set<number>();
  let { token } = await service.createUser();
  let shared = await openWire(service);
  let sent = 0;

  const readResponse = async (wire: Wire, sentMethod: string, method = sentMethod) => {
    const response = await wire.readResponse(sentMethod);
    if (response === null) return null;
    statuses.add(response.status);
    const shown = { ...response, body: response.body.toString() };
    expect({ ...shown, violations: violationsOf(response, method) }).toEqual({ ...shown, violations: [] });
    return response;
  };

  /** Uses one connection as long as the server keeps it open. */
  const sendWhole = async (hostile: HostileRequest): Promise<void> => {
    const { method, target } = hostile;
    if (!shared.isOpen) shared = await openWire(service);
    shared.send(encodeRequest(hostile, token));
    const response = await readResponse(shared, method);
    if (response === null) throw new Error("The connection was closed without a response");
    if (target.startsWith("/auth/me") && response.status === 204) token = (await service.createUser()).token;
    // After CONNECT, the server treats further bytes as a tunnel's, even if it refused.
    if (method === "CONNECT") shared[Symbol.dispose]();
    if (response.headers.some(([name, value]) => name === "connection" && value === "close"))
      await shared.closed;
  };

  /** Uses a separate connection and closes it: after damage, the server can wait for more bytes. */
  const sendDamaged = async (hostile: HostileRequest): Promise<void> => {
    using own = await openWire(service);
    own.send(encodeRequest(hostile, token), "last");
    // The damage can change the method. Only HEAD affects the framing of the response.
    while (await readResponse(own, hostile.method, "HEAD"));
  };

  const take = async (hostile: HostileRequest): Promise<void> => {
    try {
      await (hostile.damage.length === 0 ? sendWhole(hostile) : sendDamaged(hostile));
    } catch (error) {
      // Further bytes on this connection would be taken for the response to another request.
      shared[Symbol.dispose]();
      await shared.closed;
      throw error;
    }
    sent += 1;
    if (sent % CHECK_EVERY > 0) return;
    const other = await service.createUser();
    expect((await service.call("GET", "/auth/me", { token: other.token })).body).toEqual(other.user);
    expect(service.log.filter(({ level }) => Number(level) >= 50)).toEqual([]);
  };

  await fc.assert(fc.asyncProperty(hostileRequest, take), { numRuns: REQUESTS, seed: SEED });
  shared[Symbol.dispose]();
  // Statuses that never occur are not tested.
  expect([...statuses]).toEqual(expect.arrayContaining([200, 201, 204, 400, 401, 404, 405, 409, 413, 422]));
  expect(JSON.stringify(service.log)).not.toContain(SECRET);
});
