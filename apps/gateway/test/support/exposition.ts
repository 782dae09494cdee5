/** A strict parser of the Prometheus text format; throws if a line is invalid. */

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export type Exposition = ReturnType<typeof parseExposition>;

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

export function parseExposition(text: string) {
  /** The type of each metric by name. */
  const families = new Map<string, string>();
  const samples: Sample[] = [];
  for (const line of text.split("\n")) {
    const type = /^# TYPE (\S+) (counter|gauge|histogram|summary)$/.exec(line);
    if (type?.[1] && type[2]) families.set(type[1], type[2]);
    if (line === "" || line.startsWith("# ")) continue;
    const [, name, labels = "", value = ""] = SAMPLE.exec(line) ?? [];
    if (name === undefined || Number.isNaN(Number(value))) throw new Error(`Invalid sample: ${line}`);
    const pairs = [...labels.matchAll(LABEL)].map(([, key = "", text = ""]) => [key, text] as const);
    samples.push({ name, labels: Object.fromEntries(pairs), value: Number(value) });
  }
  /** The sum of the samples with this name and these labels; undefined if there are none. */
  const value = (name: string, labels: Readonly<Record<string, string>> = {}) => {
    const found = samples.filter(
      (sample) =>
        sample.name === name && Object.entries(labels).every(([key, text]) => sample.labels[key] === text),
    );
    return found.length === 0 ? undefined : found.reduce((sum, sample) => sum + sample.value, 0);
  };
  return { families, samples, value };
}

/** Scrapes the metrics listener of the service that logged this ready line. */
export async function scrape(ready: Readonly<Record<string, unknown>>): Promise<Exposition> {
  const response = await fetch(String(ready.metrics));
  if (response.status !== 200) throw new Error(`The metrics listener returned ${response.status}`);
  return parseExposition(await response.text());
}
