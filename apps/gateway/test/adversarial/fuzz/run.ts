/** Sends hostile requests to a running service and checks every response; a seed always produces the same requests. */
import fc from "fast-check";
import type { Service } from "../../support/service.ts";
import { openWire, type Wire, type WireResponse } from "../../support/wire.ts";
import { damageBytes, encodeRequest } from "./bytes.ts";
import { violationsOf } from "./oracle.ts";
import { type HostileRequest, type Step, step } from "./requests.ts";

interface FuzzOptions {
  readonly requests: number;
  /** A 32-bit integer. */
  readonly seed: number;
}

/** The number of responses per status; `none` if the server closed the connection without one. */
type Statuses = Readonly<Record<string, number>>;

/** After this many requests, the service must still work for other clients. */
const CHECK_EVERY = 500;

/** @throws {Error} with the smallest request that violates the oracle, and the seed and path that reproduce it */
export async function runFuzz(service: Service, { requests, seed }: FuzzOptions): Promise<Statuses> {
  const statuses: Record<string, number> = {};
  let { token } = await service.createUser();
  let wire = await openWire(service);
  let sent = 0;

  const count = (status: number | string): void => {
    statuses[status] = (statuses[status] ?? 0) + 1;
  };

  /** Uses one connection as long as the server keeps it open. */
  const sendWhole = async (hostile: HostileRequest): Promise<void> => {
    if (!wire.isOpen) wire = await openWire(service);
    wire.send(encodeRequest(hostile, token));
    const response = await wire.readResponse(hostile.method);
    if (response === null) throw new Error("The connection was closed without a response");
    count(response.status);
    expectNoViolations(response, hostile.method);
    if (hostile.target.startsWith("/auth/me") && response.status === 204)
      token = (await service.createUser()).token;
    // After CONNECT, the server treats further bytes as a tunnel's, even if it refused.
    if (hostile.method === "CONNECT") wire[Symbol.dispose]();
    if (response.headers.some(([name, value]) => name === "connection" && value === "close"))
      await wire.closed;
  };

  /** Uses a separate connection and closes it: after damage, the server can wait for more bytes. */
  const sendDamaged = async ({ method }: HostileRequest, bytes: Buffer): Promise<void> => {
    using own: Wire = await openWire(service);
    own.send(bytes, "last");
    let responses = 0;
    // The damage can change the method. Only HEAD affects the framing of the response.
    for (let response = await own.readResponse(method); response; response = await own.readResponse(method)) {
      responses += 1;
      count(response.status);
      expectNoViolations(response, "HEAD");
    }
    if (responses === 0) count("none");
  };

  const take = async ({ request, damage }: Step): Promise<void> => {
    try {
      if (damage === null) await sendWhole(request);
      else await sendDamaged(request, damageBytes(encodeRequest(request, token), damage));
    } catch (error) {
      // Further bytes on this connection would be taken for the response to another request.
      wire[Symbol.dispose]();
      await wire.closed;
      throw error;
    }
    sent += 1;
    if (sent % CHECK_EVERY === 0) await expectWorking(service);
  };

  await fc.assert(fc.asyncProperty(step, take), { numRuns: requests, seed });
  wire[Symbol.dispose]();
  await expectWorking(service);
  return statuses;
}

function expectNoViolations(response: WireResponse, method: string): void {
  const violations = violationsOf(response, method);
  if (violations.length === 0) return;
  const shown = JSON.stringify({ ...response, body: response.body.toString() });
  throw new Error(`The response has ${violations.join(", ")}: ${shown}`);
}

/** Registers, logs in and reads; no server error was logged. */
async function expectWorking(service: Service): Promise<void> {
  const { token, email } = await service.createUser();
  const { body } = await service.call("GET", "/auth/me", { token });
  const errors = service.log.filter(({ level }) => Number(level) >= 50);
  if (!(JSON.stringify(body) ?? "").includes(email)) throw new Error("The service does not work any more");
  if (errors.length > 0) throw new Error(`Errors were logged: ${JSON.stringify(errors)}`);
}
