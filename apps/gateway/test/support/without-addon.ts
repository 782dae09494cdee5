/** Preloaded by a service that shall find no native kernels, as after a checkout that was copied without them. */
import { plugin } from "bun";

plugin({
  name: "without-addon",
  setup(build) {
    build.onLoad({ filter: /kernel\/addon-file\.ts$/ }, async ({ path }) => ({
      contents: (await Bun.file(path).text()).replace('join(SOURCE_DIRECTORY, "build")', '"/nonexistent"'),
      loader: "ts",
    }));
  },
});
