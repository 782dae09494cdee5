/** The version of this release. The root `package.json` is the only file that states it. */
import manifest from "../../../package.json" with { type: "json" };

export const VERSION = manifest.version;
