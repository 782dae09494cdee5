using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    # By default, workers do not reach loopback addresses.
    (name = "internet", network = (allow = ["private", "local"])),
  ],
);

const worker :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "dist/worker.js")],
  compatibilityDate = "2026-01-01",
  bindings = [
    (name = "SERVICE_URL", fromEnvironment = "SERVICE_URL"),
    (name = "EMAIL", fromEnvironment = "EMAIL"),
    (name = "PASSWORD", fromEnvironment = "PASSWORD"),
  ],
);
