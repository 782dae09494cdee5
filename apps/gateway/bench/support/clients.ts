/** A client of the service. */
import { type RequestOptions, request } from "@latchkey/testing/service-process";

/** Sends a POST request and reads the response. Returns its status and the time until it was complete. */
export async function send(url: string, options: RequestOptions) {
  const sentMs = performance.now();
  const response = await request(url, { method: "POST", ...options });
  await response.arrayBuffer();
  return { status: response.status, ms: performance.now() - sentMs };
}
