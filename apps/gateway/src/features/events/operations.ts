/** The operation that reads account events. The rules are in `feed.ts`. */
import type { Operator } from "@latchkey/administration";
import * as contracts from "@latchkey/contracts";
import { wrongType } from "../../http/issues.ts";
import { operationFor } from "../../http/operation.ts";
import type { EventFeed } from "./feed.ts";

const operation = operationFor<Operator>();

export const eventOperations = (feed: EventFeed) => [
  operation({
    tag: "Events",
    feature: "accountEvents",
    id: "readEvents",
    method: "GET",
    path: "/admin/events",
    summary: "Read what happened to users",
    description:
      "In ascending order of position, each event exactly once. With `wait`, the response is sent as soon as there is an event. `after=now` and `since` return only a cursor. 404 while no events are recorded (`bun run admin events on`).",
    requiresToken: true,
    openTo: ["read", "events"],
    rejectsUnknownParameters: true,
    limit: "none",
    query: contracts.AccountEventQuery,
    issues: [wrongType("query", "limit", "integer")],
    success: { status: 200, description: "The next events.", schema: contracts.AccountEventPage },
    errors: ["NOT_FOUND", "CURSOR_EXPIRED", "TOO_MANY_READERS"],
    handler: ({ query }, { signal }) => feed.read(query, signal),
  }),
];
