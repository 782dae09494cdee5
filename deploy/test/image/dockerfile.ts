/** Parses a Dockerfile into stages and steps. It supports the instructions that this project uses and rejects all others. */

export type Step =
  | { readonly kind: "workdir"; readonly path: string }
  | {
      readonly kind: "copy";
      /** The name of a stage; null for the build context. */
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
  /** The name after `AS`; null for the last stage, which is the image. */
  readonly name: string | null;
  /** An earlier stage or an image from a registry. */
  readonly from: string;
  readonly steps: readonly Step[];
}

/** @throws Error for an unsupported instruction or form */
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

/** Instructions without comments, one per entry. */
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
      throw new Error(`Unsupported instruction: ${instruction}`);
  }
}

function parseCopy(rest: string): Step {
  const words = rest.split(/\s+/);
  const flags = new Map(words.filter((word) => word.startsWith("--")).map(parsePair));
  const paths = words.filter((word) => !word.startsWith("--"));
  const [source = "", target = ""] = paths;
  const unknown = [...flags.keys()].filter((flag) => flag !== "--from" && flag !== "--chown");
  if (unknown.length > 0 || paths.length !== 2) throw new Error(`Unsupported COPY: ${rest}`);
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

/** Accepts the exec form only, because a shell between the engine and the service does not forward signals. */
function parseExecForm(text: string): readonly string[] {
  if (!text.startsWith("[")) throw new Error(`Not in exec form: ${text}`);
  const words: unknown = JSON.parse(text);
  if (!Array.isArray(words) || !words.every((word) => typeof word === "string")) {
    throw new Error(`Not a list of strings: ${text}`);
  }
  return words;
}
