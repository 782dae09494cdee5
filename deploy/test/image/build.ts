/**
 * Executes a Dockerfile without a container engine: each stage is a folder, the host replaces the base image, and every
 * command runs without privileges. Disposing the image removes everything.
 */
import { chmod, cp, mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import { isRoot, makeFolder, type Running, runCommand, startCommand } from "./account.ts";
import { copyContext } from "./context.ts";
import { parseDockerfile, type Stage, type Step } from "./dockerfile.ts";

export interface ImageSource {
  /** The build context, filtered by its `.dockerignore`. */
  readonly context: string;
  /** Relative to the context. */
  readonly dockerfile: string;
  /** Bun's package cache, so that a build needs no network. It is only read. */
  readonly packageCache: string;
}

export interface Image extends AsyncDisposable {
  /** `/` of the image; read-only except for `data`. */
  readonly root: string;
  /** The working directory of commands. */
  readonly workdir: string;
  readonly cmd: readonly string[];
  readonly healthcheck: readonly string[];
  /** Starts a command with the image's environment and `environment` only, as a container does. */
  start(command: readonly string[], environment: Readonly<Record<string, string>>): Running;
}

interface StageState {
  readonly root: string;
  workdir: string;
  environment: Record<string, string>;
  cmd: readonly string[];
  healthcheck: readonly string[];
}

interface BuildContext {
  readonly source: ImageSource;
  readonly folder: string;
  readonly stages: Map<string, StageState>;
  /** The variables of the base image, and the folder for downloads. */
  readonly environment: Readonly<Record<string, string>>;
}

/** @throws Error with the output of the failed step */
export async function buildImage(source: ImageSource): Promise<Image> {
  const folder = await mkdtemp(join(tmpdir(), "latchkey-image-"));
  const dispose = async () => {
    await privileged("chmod -R u+w .", folder);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await chmod(folder, 0o755);
    const stages = parseDockerfile(await Bun.file(join(source.context, source.dockerfile)).text());
    const build = { source, folder, stages: new Map(), environment: await prepareBase(folder, source) };
    let state: StageState | undefined;
    for (const stage of stages) state = await buildStage(stage, build);
    if (state === undefined) throw new Error("The Dockerfile has no stage");
    return await finalize(state, build, dispose);
  } catch (error) {
    await dispose();
    throw error;
  }
}

/** Provides Bun for any user, a home folder and a writable package cache. */
async function prepareBase(folder: string, { packageCache }: ImageSource): Promise<Record<string, string>> {
  const bin = join(folder, "bin");
  await mkdir(bin);
  await cp(process.execPath, join(bin, "bun"), { dereference: true });
  await symlink("bun", join(bin, "bunx"));
  await makeFolder(join(folder, "home"));
  return {
    PATH: `${bin}:/usr/local/bin:/usr/bin:/bin`,
    HOME: join(folder, "home"),
    TMPDIR: join(folder, "home"),
    BUN_INSTALL_CACHE_DIR: isRoot() ? await linkCache(folder, packageCache) : packageCache,
  };
}

/** Hard links take no space. Where they are not possible, the build downloads the packages. */
async function linkCache(folder: string, packageCache: string): Promise<string> {
  const cache = join(folder, "cache");
  await privileged(`cp -al '${packageCache}' cache`, folder).catch(() =>
    rm(cache, { recursive: true, force: true }),
  );
  await makeFolder(cache);
  await privileged(`find cache -type d -exec chown --reference=cache {} +`, folder);
  return cache;
}

async function buildStage({ name, from, steps }: Stage, build: BuildContext): Promise<StageState> {
  const base = build.stages.get(from);
  const root = join(build.folder, "stages", name ?? "image");
  const state = base
    ? { ...base, root, environment: { ...base.environment } }
    : { root, workdir: "/", environment: {}, cmd: [], healthcheck: [] };
  await makeFolder(root);
  if (base) await copyFolder(base.root, root, build);
  if (name !== null) build.stages.set(name, state);
  for (const step of steps) await perform(step, state, build);
  return state;
}

async function perform(step: Step, state: StageState, build: BuildContext): Promise<void> {
  switch (step.kind) {
    case "workdir":
      state.workdir = step.path;
      return makeFolder(join(state.root, step.path));
    case "copy":
      return copy(step, state, build);
    case "run":
      return run(step.command, state, build);
    case "env":
      Object.assign(state.environment, step.variables);
      return;
    case "healthcheck":
    case "cmd":
      state[step.kind] = step.command;
      return;
  }
}

async function copy(step: Step & { kind: "copy" }, state: StageState, build: BuildContext): Promise<void> {
  const target = join(state.root, isAbsolute(step.target) ? "" : state.workdir, step.target);
  await makeFolder(target);
  if (step.from === null) {
    await copyContext(build.source.context, target);
    if (isRoot()) await privileged("chown -R --reference=. .", target);
    return;
  }
  const from = build.stages.get(step.from);
  if (from === undefined) throw new Error(`There is no stage ${step.from}`);
  await copyFolder(join(from.root, step.source), target, build);
}

/** Copies without privileges, so that the unprivileged user owns the copy. */
async function copyFolder(source: string, target: string, { environment }: BuildContext): Promise<void> {
  await runCommand(["cp", "-R", "-P", "-p", `${source}/.`, target], { cwd: target, environment });
}

/** The host provides the system packages, such as the compiler. */
const INSTALLS_SYSTEM_PACKAGES = /^apt-get /;

async function run(command: string, state: StageState, { environment }: BuildContext): Promise<void> {
  if (INSTALLS_SYSTEM_PACKAGES.test(command)) return;
  await runCommand(["sh", "-c", command], {
    cwd: join(state.root, state.workdir),
    environment: { ...environment, ...state.environment },
  });
}

/** One user owns every file here, so file modes replace the ownership of a real image. */
async function finalize(
  state: StageState,
  { environment }: BuildContext,
  dispose: () => Promise<void>,
): Promise<Image> {
  const { root, workdir, cmd, healthcheck } = state;
  await privileged("chmod -R a-w . && chmod -R u+w data", root);
  const started: Running[] = [];
  const start: Image["start"] = (command, own) => {
    const running = startCommand(command, {
      cwd: join(root, workdir),
      // Neither folder exists, so every write outside `data` fails.
      environment: {
        PATH: environment.PATH ?? "",
        HOME: "/nonexistent",
        TMPDIR: "/nonexistent",
        ...state.environment,
        ...own,
      },
    });
    started.push(running);
    return running;
  };
  const disposeAll = async () => {
    for (const { kill } of started) kill("SIGKILL");
    await Promise.all(started.map(({ exited }) => exited));
    await dispose();
  };
  return { root, workdir: join(root, workdir), cmd, healthcheck, start, [Symbol.asyncDispose]: disposeAll };
}

const privileged = (command: string, cwd: string): Promise<void> =>
  runCommand(["sh", "-c", command], { cwd, environment: { PATH: "/usr/bin:/bin" }, privileged: true });
