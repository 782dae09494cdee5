/** The probe routes. Liveness uses no resource; readiness queries the database. */
import { Elysia } from "elysia";
import { requestContext } from "../../elysia/request-context.ts";
import { defineOperations } from "../../openapi/operation.ts";
import type { Readiness } from "./service.ts";

export const isLiveness = (path: string): boolean => path === "/healthz";
/** Probes are not rate-limited, and are logged at level debug. */
export const isProbe = (path: string): boolean => isLiveness(path) || path === "/readyz";

const operations = defineOperations("Probes", {
  getLiveness: {
    summary: "Check that the process is running",
    description: "Liveness: uses no other resource, so a supervisor can restart the process if it fails.",
    success: { status: 200, description: "The process is running.", schema: "LivenessResponse" },
  },
  getReadiness: {
    summary: "Check that the service can handle requests",
    description: "Readiness: runs a trivial query on the database. Not ready during a shutdown.",
    success: { status: 200, description: "Ready for traffic.", schema: "ReadinessResponse" },
    unavailable: {
      status: 503,
      description: "The database is unreachable, or the service is shutting down.",
      schema: "UnavailableResponse",
    },
  },
});

export function probeRoutes(readiness: Readiness) {
  return new Elysia({ name: "probes" })
    .use(requestContext())
    .get("/healthz", () => ({ status: "ok" }) as const, operations.getLiveness)
    .get(
      "/readyz",
      async (context) => {
        const result = await readiness.check();
        if (result.isReady) return { status: "ready" } as const;
        context.entry.error = result.error;
        context.set.status = 503;
        return { status: "unavailable" } as const;
      },
      operations.getReadiness,
    );
}
