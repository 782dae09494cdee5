/** Reads a Dockerfile into stages and steps. It knows the instructions that this project uses and refuses the others. */

export type Step =
  | { readonly kind: "workdir"; readonly path: string }
  | {
      readonly kind: "copy";
      /** A stage's name; null: the context. */
      readonly from: string | null;
      readonly source: string;
      readonly target: string;
    }
  | { readonly kind: "run"; readonly command: string }
  | { readonly kind: "env"; readonly variables: Readonly<Record<string, string>> }
  | { readonly kind: "user"; readonly user: string }
  | { readonly kind: "expose"; readonly port: number }
  | { readonly kind: "label" }
  | { readonly kind: "healthcheck"; readonly command: readonly string[] }
  | { readonly kind: "cmd"; readonly command: readonly string[] };

export interface Stage {
  /** What `AS` says; null for the last stage, which is the image. */
  readonly name: string | null;
  /** An earlier stage or an image of a registry. */
  readonly from: string;
  readonly steps: readonly Step[];
}

/** @throws Error for an instruction or a form that it does not know */
export function parseDockerfile(text: string): Stage[] {
  const stages: (Stage & { steps: Step[] })[] = [];
  for (const line of joinLines(text)) {
    const [, instruction = "", rest = ""] = /^(\S+)\s+(.*)$/s.exec(line) ?? [];
    if (instruction === "FROM") {
      const [from = "", as, name] = rest.split(/\s+/);
      stages.push({ name: as === "AS" && name !== undefined ? name : null, from, steps: [] });
      continue;
    }
    stages.at(-1)?.steps.push(parseStep(instruction, rest));
  }
  return stages;
}

/** Instructions without comments, one an entry. */
function joinLines(text: string): string[] {
  const lines = text.split("\n").filter((line) => !/^\s*(#|$)/.test(line));
  return lines
    .join("\n")
    .replace(/\s*\\\n\s*/g, " ")
    .split("\n");
}

function parseStep(instruction: string, rest: string): Step {
  switch (instruction) {
    case "WORKDIR":
      return { kind: "workdir", path: rest };
    case "COPY":
      return parseCopy(rest);
    case "RUN":
      return { kind: "run", command: rest };
    case "ENV":
      return { kind: "env", variables: Object.fromEntries(rest.split(/\s+/).map(parsePair)) };
    case "USER":
      return { kind: "user", user: rest };
    case "EXPOSE":
      return { kind: "expose", port: Number(rest) };
    case "LABEL":
      return { kind: "label" };
    case "HEALTHCHECK":
      return { kind: "healthcheck", command: parseExecForm(rest.replace(/^(--\S+\s+)*CMD\s+/, "")) };
    case "CMD":
      return { kind: "cmd", command: parseExecForm(rest) };
    default:
      throw new Error(`A Dockerfile's ${instruction} is not known here.`);
  }
}

function parseCopy(rest: string): Step {
  const words = rest.split(/\s+/);
  const flags = new Map(words.filter((word) => word.startsWith("--")).map(parsePair));
  const paths = words.filter((word) => !word.startsWith("--"));
  const [source = "", target = ""] = paths;
  const unknown = [...flags.keys()].filter((flag) => flag !== "--from" && flag !== "--chown");
  if (unknown.length > 0 || paths.length !== 2) throw new Error(`This COPY is not known here: ${rest}`);
  return {
    kind: "copy",
    from: flags.get("--from") ?? null,
    source,
    target,
  };
}

const parsePair = (pair: string): [string, string] => {
  const [name = "", ...value] = pair.split("=");
  return [name, value.join("=")];
};

/** The exec form alone: a shell between the engine and the service would keep the signals for itself. */
function parseExecForm(text: string): readonly string[] {
  if (!text.startsWith("[")) throw new Error(`Not in exec form: ${text}`);
  const words: unknown = JSON.parse(text);
  if (!Array.isArray(words) || !words.every((word) => typeof word === "string")) {
    throw new Error(`Not a list of words: ${text}`);
  }
  return words;
}
