/** The wire shapes of the two probes. */
import Type from "typebox";

export const Live = Type.Object({ status: Type.Literal("ok") });
const Ready = Type.Object({ status: Type.Literal("ready") });
const Unready = Type.Object({ status: Type.Literal("unavailable") });

/** The keys are the names in the OpenAPI document. */
export const PROBE_RESPONSES = {
  LivenessResponse: Live,
  ReadinessResponse: Ready,
  UnavailableResponse: Unready,
};
