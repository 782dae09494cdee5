/** Vite bundles the worker; Vitest tests on a page of the service's origin. */
export default {
  build: { lib: { entry: "worker.mjs", formats: ["es"], fileName: "worker" } },
  test: {
    include: ["vitest.mjs"],
    environment: "happy-dom",
    environmentOptions: { happyDOM: { url: process.env.SERVICE_URL } },
  },
};
