/** Loads a URL over several connections, with wrk if it is installed, otherwise with fetch. */

export interface Load {
  readonly connections: number;
  readonly seconds: number;
}

interface LoadOptions extends Load {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export const LOAD_PROGRAM = Bun.which("wrk") === null ? "fetch" : "wrk";

export interface LoadResult {
  /** Requests per second. */
  readonly rate: number;
  /** Response times in milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

/** Throws if a response is not 2xx. */
export const measureLoad = (options: LoadOptions): Promise<LoadResult> =>
  LOAD_PROGRAM === "wrk" ? loadWithWrk(options) : loadWithFetch(options);

async function loadWithWrk({ url, headers = {}, connections, seconds }: LoadOptions): Promise<LoadResult> {
  const headerArguments = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
  const size = ["--latency", "-t", "1", "-c", String(connections), "-d", `${seconds}s`];
  const child = Bun.spawn(["wrk", ...size, ...headerArguments, url], { stdout: "pipe" });
  const report = await new Response(child.stdout).text();
  const perSecond = /Requests\/sec:\s+([\d.]+)/.exec(report)?.[1];
  if (perSecond === undefined || /Non-2xx|Socket errors/.test(report)) throw new Error(report);
  const percentile = (percent: number): number => {
    const [, value, unit = ""] = new RegExp(`${percent}%\\s+([\\d.]+)(us|ms|s)`).exec(report) ?? [];
    return Number(value) * (WRK_UNITS_MS[unit] ?? Number.NaN);
  };
  return { rate: Number(perSecond), p50: percentile(50), p99: percentile(99) };
}

const WRK_UNITS_MS: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000 };

async function loadWithFetch({ url, headers = {}, connections, seconds }: LoadOptions): Promise<LoadResult> {
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1000;
  const times: number[] = [];
  const loop = async (): Promise<void> => {
    while (performance.now() < endsAt) {
      const sentAt = performance.now();
      const response = await fetch(url, { headers });
      await response.arrayBuffer();
      if (!response.ok) throw new Error(`${url} returned ${response.status}`);
      times.push(performance.now() - sentAt);
    }
  };
  await Promise.all(Array.from({ length: connections }, loop));
  const rate = (times.length * 1000) / (performance.now() - startedAt);
  times.sort((a, b) => a - b);
  const percentile = (percent: number): number =>
    times[Math.floor((times.length * percent) / 100)] ?? Number.NaN;
  return { rate, p50: percentile(50), p99: percentile(99) };
}
