/** The probe routes: liveness uses no resource, readiness queries the database. */
import { Elysia } from "elysia";
import { operation, reference, response } from "../../docs/operation.ts";
import { requestContext } from "../../middleware/request-context.ts";
import type { Readiness } from "./service.ts";

/** Not rate-limited; logged at level debug. */
const PROBE_PATHS = new Set(["/healthz", "/readyz"]);

export const isLiveness = (path: string): boolean => path === "/healthz";
export const isProbe = (path: string): boolean => PROBE_PATHS.has(path);

const LIVENESS = operation({
  id: "getLiveness",
  tag: "Probes",
  summary: "Check that the process is running",
  success: { status: 200, description: "The process is running.", schema: "LivenessResponse" },
  errors: [],
});

const READINESS = operation({
  id: "getReadiness",
  tag: "Probes",
  summary: "Check that the service can handle requests",
  success: { status: 200, description: "Ready for traffic.", schema: "ReadinessResponse" },
  errors: [],
});

export function probeRoutes(readiness: Readiness) {
  return new Elysia({ name: "probes" })
    .use(requestContext())
    .get("/healthz", () => ({ status: "ok" }) as const, { detail: LIVENESS })
    .get(
      "/readyz",
      async (context) => {
        const result = await readiness.check();
        if (result.isReady) return { status: "ready" } as const;
        context.errorToLog = result.error;
        context.set.status = 503;
        return { status: "unavailable" } as const;
      },
      {
        detail: {
          ...READINESS,
          responses: {
            ...READINESS.responses,
            503: response("The database is unreachable, or the service is shutting down.", ["X-Request-ID"], {
              schema: reference("UnavailableResponse"),
            }),
          },
        },
      },
    );
}
