/** Sends hostile requests to a running service and judges every answer; one seed always makes the same requests. */
import fc from "fast-check";
import type { Service } from "../../support/service.ts";
import { openWire, type Wire, type WireAnswer } from "../../support/wire.ts";
import { damageBytes, encodeRequest } from "./bytes.ts";
import { faultsOf } from "./oracle.ts";
import { type HostileRequest, type Step, step } from "./requests.ts";

export interface FuzzOptions {
  readonly requests: number;
  /** A 32-bit integer. */
  readonly seed: number;
}

export interface FuzzReport {
  /** How many answers had each status; `none` where the server closed without one. */
  readonly statuses: Readonly<Record<string, number>>;
  /** The request whose response took longest, from the first byte sent. */
  readonly slowest: { readonly ms: number; readonly request: HostileRequest | null };
}

/** After so many requests the service must serve others as if nothing had happened. */
const CHECK_EVERY = 500;

/** @throws {Error} with the smallest request that shows a fault, and the seed and path that lead to it */
export async function runFuzz(service: Service, { requests, seed }: FuzzOptions): Promise<FuzzReport> {
  const statuses: Record<string, number> = {};
  let { token } = await service.person();
  let wire = await openWire(service);
  let sent = 0;
  let slowest: FuzzReport["slowest"] = { ms: 0, request: null };

  const count = (status: number | string): void => {
    statuses[status] = (statuses[status] ?? 0) + 1;
  };

  /** Over one connection for as long as the server keeps it. */
  const sendWhole = async (hostile: HostileRequest): Promise<void> => {
    if (!wire.isOpen) wire = await openWire(service);
    const bytes = encodeRequest(hostile, token);
    const sentAt = performance.now();
    wire.send(bytes);
    const answer = await wire.answer(hostile.method);
    const ms = performance.now() - sentAt;
    if (ms > slowest.ms) slowest = { ms, request: hostile };
    if (answer === null) throw new Error("The connection was closed without an answer");
    count(answer.status);
    expectFaultless(answer, hostile.method);
    if (hostile.target.startsWith("/auth/me") && answer.status === 204)
      token = (await service.person()).token;
    // After CONNECT the server takes what follows for a tunnel's, also where it refused.
    if (hostile.method === "CONNECT") wire[Symbol.dispose]();
    if (answer.headers.some(([name, value]) => name === "connection" && value === "close")) await wire.closed;
  };

  /** Over a connection of its own, closed behind it: damage may leave the server waiting for more. */
  const sendDamaged = async ({ method }: HostileRequest, bytes: Buffer): Promise<void> => {
    using own: Wire = await openWire(service);
    own.send(bytes, "last");
    let answers = 0;
    // What was asked is not known any more; bodies are framed all the same, but for HEAD.
    for (let answer = await own.answer(method); answer; answer = await own.answer(method)) {
      answers += 1;
      count(answer.status);
      expectFaultless(answer, "HEAD");
    }
    if (answers === 0) count("none");
  };

  const take = async ({ request, damage }: Step): Promise<void> => {
    try {
      if (damage === null) await sendWhole(request);
      else await sendDamaged(request, damageBytes(encodeRequest(request, token), damage));
    } catch (error) {
      // What is still to come on this connection would answer another request.
      wire[Symbol.dispose]();
      await wire.closed;
      throw error;
    }
    sent += 1;
    if (sent % CHECK_EVERY === 0) await expectServing(service);
  };

  await fc.assert(fc.asyncProperty(step, take), { numRuns: requests, seed });
  wire[Symbol.dispose]();
  await expectServing(service);
  return { statuses, slowest };
}

function expectFaultless(answer: WireAnswer, method: string): void {
  const faults = faultsOf(answer, method);
  if (faults.length === 0) return;
  const shown = JSON.stringify({ ...answer, body: answer.body.toString() });
  throw new Error(`The answer has ${faults.join(", ")}: ${shown}`);
}

/** Somebody registers, logs in and reads; nothing was logged as our fault. */
async function expectServing(service: Service): Promise<void> {
  const { token, email } = await service.person();
  const { body } = await service.call("GET", "/auth/me", { token });
  const failures = service.log.filter(({ level }) => Number(level) >= 50);
  if (!(JSON.stringify(body) ?? "").includes(email)) throw new Error("The service does not serve any more");
  if (failures.length > 0) throw new Error(`Failures were logged: ${JSON.stringify(failures)}`);
}
