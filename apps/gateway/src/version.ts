/** The version of this release. Only the root `package.json` contains the version. */
import manifest from "../../../package.json" with { type: "json" };

export const VERSION = manifest.version;
