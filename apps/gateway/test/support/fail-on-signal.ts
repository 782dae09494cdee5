/** Preloaded into a service under test: gives it a bug that shows when the test asks for it. */
process.on("SIGUSR1", () => {
  setTimeout(() => {
    throw new TypeError("a bug outside of any request");
  });
});
process.on("SIGUSR2", () => void Promise.reject(new TypeError("a bug outside of any request")));
