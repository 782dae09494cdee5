/** HTTP for the probes: liveness touches nothing, readiness asks the database. */
import { Elysia } from "elysia";
import { operation, response } from "../../docs/operation.ts";
import { requestContext } from "../../middleware/request-context.ts";
import type { Readiness } from "./service.ts";

/** The paths that no limit counts and the log shows at debug. */
const PROBE_PATHS = new Set(["/healthz", "/readyz"]);

export const isLiveness = (path: string): boolean => path === "/healthz";
export const isProbe = (path: string): boolean => PROBE_PATHS.has(path);

const liveness = operation({
  id: "liveness",
  tag: "Probes",
  summary: "Is the process alive?",
  success: { status: 200, description: "It is.", schema: "Live" },
  failures: [],
});

const readiness = operation({
  id: "readiness",
  tag: "Probes",
  summary: "Should this process get traffic?",
  success: { status: 200, description: "It should.", schema: "Ready" },
  failures: [],
});

export function probeRoutes({ judge }: Readiness) {
  return new Elysia({ name: "probes" })
    .use(requestContext())
    .get("/healthz", () => ({ status: "ok" }) as const, { detail: liveness })
    .get(
      "/readyz",
      async (context) => {
        const judgement = await judge();
        if (judgement.isReady) return { status: "ready" } as const;
        context.failure = judgement.cause;
        context.set.status = 503;
        return { status: "unavailable" } as const;
      },
      {
        detail: {
          ...readiness,
          responses: {
            ...readiness.responses,
            503: response(
              "The database does not answer, or the process is stopping.",
              ["X-Request-ID"],
              "Unready",
            ),
          },
        },
      },
    );
}
