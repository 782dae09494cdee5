/** Loads one URL for a while over a few connections: with wrk where it is installed, else with a loop of fetches. */

export interface Load {
  readonly connections: number;
  readonly seconds: number;
}

export interface LoadOptions extends Load {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export const driver = Bun.which("wrk") === null ? "fetch" : "wrk";

/** Requests per second; throws if an answer was not 2xx. */
export const measureLoad = (options: LoadOptions): Promise<number> =>
  driver === "wrk" ? loadWithWrk(options) : loadWithFetch(options);

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
  const beganAt = performance.now();
  const endsAt = beganAt + seconds * 1000;
  let answered = 0;
  const loop = async (): Promise<void> => {
    while (performance.now() < endsAt) {
      const response = await fetch(url, { headers });
      await response.arrayBuffer();
      if (!response.ok) throw new Error(`${url} answered ${response.status}`);
      answered += 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, loop));
  return (answered * 1000) / (performance.now() - beganAt);
}
