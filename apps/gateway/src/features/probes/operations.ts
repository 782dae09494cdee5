/** The probes. Liveness uses no resource; readiness queries the database. */
import { PROBE_RESPONSES } from "@latchkey/contracts";
import { userOperation } from "../../http/operation.ts";
import type { Readiness } from "./service.ts";

const operation = userOperation({ tag: "Probes" });

export const LIVENESS_PATH = "/healthz";
/** Probes are not rate-limited, and are logged at level debug. */
export const PROBE_PATHS = [LIVENESS_PATH, "/readyz"];

export const probeOperations = (readiness: Readiness) => [
  operation({
    id: "getLiveness",
    method: "GET",
    path: LIVENESS_PATH,
    summary: "Check that the process is running",
    description: "Liveness: uses no other resource, so a supervisor can restart the process if it fails.",
    limit: "none",
    success: {
      status: 200,
      description: "The process is running.",
      schema: PROBE_RESPONSES.LivenessResponse,
    },
    isStatic: true,
    handler: () => ({ status: "ok" }) as const,
  }),
  operation({
    id: "getReadiness",
    method: "GET",
    path: "/readyz",
    summary: "Check that the service can handle requests",
    description: "Readiness: runs a trivial query on the database. Not ready during a shutdown.",
    limit: "none",
    success: { status: 200, description: "Ready for traffic.", schema: PROBE_RESPONSES.ReadinessResponse },
    unavailable: {
      status: 503,
      description: "The database is unreachable, or the service is shutting down.",
      schema: PROBE_RESPONSES.UnavailableResponse,
    },
    async handler(_input, { response, warn }) {
      const result = await readiness.check();
      if (result.isReady) return { status: "ready" } as const;
      warn(result.error);
      response.status = 503;
      return { status: "unavailable" } as const;
    },
  }),
];
