/**
 * The feed of account events: cursors, their checks, and waiting. Invariant: a reader that sends on each cursor that it gets receives
 * every event after the first cursor once, in the order of the positions, or the error that some are missing.
 */
import {
  type AccountEventPage,
  type AccountEventQuery,
  END_OF_EVENTS,
  EVENT_PAGE_SIZE_DEFAULT,
  EVENT_WAIT_MAX_SECONDS,
  toAccountEvent,
} from "@latchkey/contracts";
import type { Database, EventPage, EventState } from "@latchkey/database";
import { ServiceError } from "../../errors.ts";
import { issue } from "../../http/issues.ts";
import type { EventObserver } from "../../observability/event-metrics.ts";
import { monotonicNow } from "../../rate-limit/clock.ts";
import type { EventCursor, EventCursors } from "../../tokens/event-cursors.ts";
import { createWaitingReaders } from "./waiting-readers.ts";

interface EventFeedOptions extends Pick<Database, "events"> {
  readonly eventCursors: EventCursors;
  /** After this time without a response, a connection is closed. 0: never. */
  readonly idleTimeoutSeconds: number;
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal;
  readonly observe?: EventObserver | undefined;
}

type ReadPage = Database["events"]["read"];

export interface EventFeed {
  isRecording(): Promise<boolean>;
  /**
   * @throws NOT_FOUND if no events are recorded
   * @throws INVALID_REQUEST, CURSOR_EXPIRED or TOO_MANY_READERS
   */
  read(query: AccountEventQuery, signal: AbortSignal): Promise<AccountEventPage>;
}

/** The least time by which a wait ends before its connection is closed: Bun closes up to four seconds early. */
const IDLE_MARGIN_SECONDS = 5;

export function createEventFeed(options: EventFeedOptions): EventFeed {
  const { events, eventCursors, idleTimeoutSeconds, stopping, observe } = options;
  const maxWaitSeconds =
    idleTimeoutSeconds === 0 ? EVENT_WAIT_MAX_SECONDS : idleTimeoutSeconds - IDLE_MARGIN_SECONDS;
  const waitForState = createWaitingReaders({
    // Most requests wait at the same position: those that one state wakes share a read.
    readState: async () => ({ state: await events.getState(), readPage: shareReads(events.read) }),
    stopping,
    observe: observe?.waiting,
  });

  const toPage = (cursor: EventCursor, items: EventPage["items"] = []): AccountEventPage => {
    if (items.length > 0) observe?.read(items.length);
    return { items: items.map(toAccountEvent), next_cursor: eventCursors.sign(cursor) };
  };

  const verify = (after: string): EventCursor => {
    const cursor = eventCursors.verify(after);
    if (cursor) return cursor;
    throw invalid("after", "is not a cursor of this feed", "string_pattern_mismatch");
  };

  return {
    isRecording: async () => (await events.getState()) !== null,
    async read({ after, since, limit = EVENT_PAGE_SIZE_DEFAULT, wait = 0 }, signal) {
      if (after !== undefined && since !== undefined)
        throw invalid("since", "cannot be combined with after", "not_allowed");
      if (since !== undefined) return toPage(expectRecording(await events.placeSince(since)));
      if (after === END_OF_EVENTS) return toPage(expectRecording(await events.placeNow()));
      let cursor = after === undefined ? null : verify(after);
      const endsAt = monotonicNow() + Math.min(wait, maxWaitSeconds) * 1000;
      for (let { read } = events; ; ) {
        const page = expectRecording(await read({ after: cursor?.position ?? null, limit }));
        if (page.isExpired || (cursor && cursor.epoch !== page.epoch))
          throw new ServiceError("CURSOR_EXPIRED");
        const { epoch, lastPosition, items } = page;
        cursor = { epoch, position: lastPosition };
        const waitMs = endsAt - monotonicNow();
        if (items.length > 0 || waitMs <= 0) return toPage(cursor, items);
        const isReady = ({ state }: { readonly state: EventState | null }): boolean =>
          state?.epoch !== epoch || state.lastPosition !== lastPosition || !state.isNumbered;
        const woken = await waitForState({ waitMs, signal, isReady });
        if (woken === null) return toPage(cursor);
        read = woken.readPage;
      }
    },
  };
}

/** Returns a function that reads each page once. */
function shareReads(read: ReadPage): ReadPage {
  const pages = new Map<string, ReturnType<ReadPage>>();
  return ({ after, limit }) => {
    const key = `${after} ${limit}`;
    const page = pages.get(key) ?? read({ after, limit });
    pages.set(key, page);
    return page;
  };
}

/** @throws NOT_FOUND */
function expectRecording<Result>(result: Result | null): Result {
  if (result === null) throw new ServiceError("NOT_FOUND");
  return result;
}

const invalid = (name: string, message: string, type: string): ServiceError =>
  new ServiceError("INVALID_REQUEST", { issues: [issue("query", name, message, type)] });
