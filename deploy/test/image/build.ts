/**
 * Performs a Dockerfile's steps without an engine: each stage is a folder, the machine stands in for the base image, and
 * every command runs as an account without rights. Disposing the image leaves nothing behind.
 */
import { chmod, cp, mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import { isRoot, makeFolder, type Running, runCommand, startCommand } from "./account.ts";
import { copyContext } from "./context.ts";
import { parseDockerfile, type Stage, type Step } from "./dockerfile.ts";

export interface ImageSource {
  /** The folder that is the context; its `.dockerignore` counts. */
  readonly context: string;
  /** From there. */
  readonly dockerfile: string;
  /** Packages that Bun downloaded earlier, so that a build needs no network. Is only read. */
  readonly packageCache: string;
}

export interface Image extends AsyncDisposable {
  /** What is `/` in the image: read-only, but for `data`. */
  readonly root: string;
  /** Where commands start. */
  readonly workdir: string;
  readonly cmd: readonly string[];
  readonly healthcheck: readonly string[];
  /** Starts a command as a container would, with the image's environment and `environment`, and no other. */
  start(command: readonly string[], environment: Readonly<Record<string, string>>): Running;
}

interface StageState {
  readonly root: string;
  workdir: string;
  environment: Record<string, string>;
  cmd: readonly string[];
  healthcheck: readonly string[];
}

interface Workshop {
  readonly source: ImageSource;
  readonly folder: string;
  readonly stages: Map<string, StageState>;
  /** What the base image sets, and where downloads are kept. */
  readonly environment: Readonly<Record<string, string>>;
}

/** @throws Error with the output of the step that failed */
export async function buildImage(source: ImageSource): Promise<Image> {
  const folder = await mkdtemp(join(tmpdir(), "latchkey-image-"));
  const dispose = async () => {
    await privileged("chmod -R u+w .", folder);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await chmod(folder, 0o755);
    const stages = parseDockerfile(await Bun.file(join(source.context, source.dockerfile)).text());
    const workshop = { source, folder, stages: new Map(), environment: await prepareBase(folder, source) };
    let state: StageState | undefined;
    for (const stage of stages) state = await buildStage(stage, workshop);
    if (state === undefined) throw new Error("The Dockerfile has no stage.");
    return await seal(state, workshop, dispose);
  } catch (error) {
    await dispose();
    throw error;
  }
}

/** Bun where any account can run it, a home, and a cache that the build may write to. */
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

/** Links cost no time and no space. Where they cannot be made, the build downloads what it needs. */
async function linkCache(folder: string, packageCache: string): Promise<string> {
  const cache = join(folder, "cache");
  await privileged(`cp -al '${packageCache}' cache`, folder).catch(() =>
    rm(cache, { recursive: true, force: true }),
  );
  await makeFolder(cache);
  await privileged(`find cache -type d -exec chown --reference=cache {} +`, folder);
  return cache;
}

async function buildStage({ name, from, steps }: Stage, workshop: Workshop): Promise<StageState> {
  const base = workshop.stages.get(from);
  const root = join(workshop.folder, "stages", name ?? "image");
  const state = base
    ? { ...base, root, environment: { ...base.environment } }
    : { root, workdir: "/", environment: {}, cmd: [], healthcheck: [] };
  await makeFolder(root);
  if (base) await copyFolder(base.root, root, workshop);
  if (name !== null) workshop.stages.set(name, state);
  for (const step of steps) await perform(step, state, workshop);
  return state;
}

async function perform(step: Step, state: StageState, workshop: Workshop): Promise<void> {
  switch (step.kind) {
    case "workdir":
      state.workdir = step.path;
      return makeFolder(join(state.root, step.path));
    case "copy":
      return copy(step, state, workshop);
    case "run":
      return run(step.command, state, workshop);
    case "env":
      Object.assign(state.environment, step.variables);
      return;
    case "healthcheck":
    case "cmd":
      state[step.kind] = step.command;
      return;
  }
}

async function copy(step: Step & { kind: "copy" }, state: StageState, workshop: Workshop): Promise<void> {
  const target = join(state.root, isAbsolute(step.target) ? "" : state.workdir, step.target);
  await makeFolder(target);
  if (step.from === null) {
    await copyContext(workshop.source.context, target);
    if (isRoot()) await privileged("chown -R --reference=. .", target);
    return;
  }
  const from = workshop.stages.get(step.from);
  if (from === undefined) throw new Error(`There is no stage ${step.from}.`);
  await copyFolder(join(from.root, step.source), target, workshop);
}

/** As the account, so that the copy is its own. */
async function copyFolder(source: string, target: string, { environment }: Workshop): Promise<void> {
  await runCommand(["cp", "-R", "-P", "-p", `${source}/.`, target], { cwd: target, environment });
}

/** Packages of the distribution are the machine's matter: its compiler stands in for theirs. */
const INSTALLS_SYSTEM_PACKAGES = /^apt-get /;

async function run(command: string, state: StageState, { environment }: Workshop): Promise<void> {
  if (INSTALLS_SYSTEM_PACKAGES.test(command)) return;
  await runCommand(["sh", "-c", command], {
    cwd: join(state.root, state.workdir),
    environment: { ...environment, ...state.environment },
  });
}

/** The account owns every file here, so what an image protects by owner is protected by mode. */
async function seal(
  state: StageState,
  { environment }: Workshop,
  dispose: () => Promise<void>,
): Promise<Image> {
  const { root, workdir, cmd, healthcheck } = state;
  await privileged("chmod -R a-w . && chmod -R u+w data", root);
  const started: Running[] = [];
  const start: Image["start"] = (command, own) => {
    const running = startCommand(command, {
      cwd: join(root, workdir),
      // No folder to fall back to: a write outside of `data` has nowhere to go.
      environment: {
        PATH: environment.PATH ?? "",
        HOME: "/nowhere",
        TMPDIR: "/nowhere",
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
