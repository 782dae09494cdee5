/** Preloaded into a service under test: throws an uncaught error on SIGUSR1, rejects a promise unhandled on SIGUSR2. */
process.on("SIGUSR1", () => {
  setTimeout(() => {
    throw new TypeError("a bug outside of any request");
  });
});
process.on("SIGUSR2", () => void Promise.reject(new TypeError("a bug outside of any request")));
