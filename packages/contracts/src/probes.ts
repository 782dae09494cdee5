/** The wire shapes of the two probes. */
import Type from "typebox";

export const Live = Type.Object({ status: Type.Literal("ok") });
export const Ready = Type.Object({ status: Type.Literal("ready") });
export const Unready = Type.Object({ status: Type.Literal("unavailable") });
