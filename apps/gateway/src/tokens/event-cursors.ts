/**
 * The cursors of account events: signed payloads, which the service does not store. A cursor is the position of the last event that
 * its reader has seen, in the database and the epoch that gave this position to an event.
 */
import { createSigner, type KeyMaterials } from "./signed-payloads.ts";

export interface EventCursor {
  readonly epoch: string;
  readonly position: number;
}

/** A cursor ends with its epoch or with the events after it, at no time. */
const NEVER = Number.MAX_SAFE_INTEGER;
type Payload = readonly ["events", epoch: string, expiresAt: number, position: number];

export interface EventCursors {
  sign(cursor: EventCursor): string;
  /** Returns null if the cursor is malformed or forged. */
  verify(cursor: string): EventCursor | null;
}

export function createEventCursors(materials: KeyMaterials): EventCursors {
  const signer = createSigner<Payload>(materials, "event cursors");
  return {
    sign: ({ epoch, position }) => signer.sign(["events", epoch, NEVER, position]),
    verify(cursor) {
      const payload = signer.verify(cursor, "events");
      return payload && { epoch: payload[1], position: payload[3] };
    },
  };
}
