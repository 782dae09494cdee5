/** The wire shapes of the two probes. */
import Type from "typebox";

export const Live = Type.Object({ status: Type.Literal("ok") });

/** The keys are the names in the OpenAPI document. */
export const PROBE_RESPONSES = {
  LivenessResponse: Live,
  ReadinessResponse: Type.Object({ status: Type.Literal("ready") }),
  UnavailableResponse: Type.Object({ status: Type.Literal("unavailable") }),
};
