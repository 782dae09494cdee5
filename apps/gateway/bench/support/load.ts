/** Loads a URL over several connections, with wrk if it is installed, otherwise with fetch. */

export interface Load {
  readonly connections: number;
  readonly seconds: number;
}

export interface LoadOptions extends Load {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export const LOAD_PROGRAM = Bun.which("wrk") === null ? "fetch" : "wrk";

/** Returns the requests per second; throws if a response is not 2xx. */
export const measureLoad = (options: LoadOptions): Promise<number> =>
  LOAD_PROGRAM === "wrk" ? loadWithWrk(options) : loadWithFetch(options);

async function loadWithWrk({ url, headers = {}, connections, seconds }: LoadOptions): Promise<number> {
  const headerArguments = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
  const size = ["-t", "1", "-c", String(connections), "-d", `${seconds}s`];
  const child = Bun.spawn(["wrk", ...size, ...headerArguments, url], { stdout: "pipe" });
  const report = await new Response(child.stdout).text();
  const perSecond = /Requests\/sec:\s+([\d.]+)/.exec(report)?.[1];
  if (perSecond === undefined || /Non-2xx|Socket errors/.test(report)) throw new Error(report);
  return Number(perSecond);
}

async function loadWithFetch({ url, headers = {}, connections, seconds }: LoadOptions): Promise<number> {
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1000;
  let responses = 0;
  const loop = async (): Promise<void> => {
    while (performance.now() < endsAt) {
      const response = await fetch(url, { headers });
      await response.arrayBuffer();
      if (!response.ok) throw new Error(`${url} returned ${response.status}`);
      responses += 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, loop));
  return (responses * 1000) / (performance.now() - startedAt);
}
