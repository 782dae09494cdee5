/** Three replicas for load checks. Each has an address, at which processes replace each other. */
import { freePort } from "@latchkey/testing/server-process";
import type { ServiceProcess } from "@latchkey/testing/service-process";

/** Longer than HAProxy needs to notice that a replica is or is not ready. */
export const SHUTDOWN_DELAY_SECONDS = 3;

export interface Slot {
  readonly port: number;
  replica: ServiceProcess | null;
}

export type Slots = readonly [Slot, Slot, Slot];

/** Disposing the resources ends the replicas that run then. */
export async function openSlots(resources: AsyncDisposableStack): Promise<Slots> {
  const open = async (): Promise<Slot> => ({ port: await freePort(), replica: null });
  const slots = [await open(), await open(), await open()] as const;
  resources.defer(async () => {
    for (const { replica } of slots) await replica?.[Symbol.asyncDispose]();
  });
  return slots;
}

export const addressesOf = (slots: Slots): string[] => slots.map(({ port }) => `127.0.0.1:${port}`);

/** @throws {Error} if the exit code is not 0 */
export async function stop(slot: Slot): Promise<void> {
  slot.replica?.signal("SIGTERM");
  const ended = await slot.replica?.ended();
  slot.replica = null;
  if (ended && ended.code !== 0) throw new Error(`A replica exited with ${ended.code}: ${ended.stderr}`);
}
