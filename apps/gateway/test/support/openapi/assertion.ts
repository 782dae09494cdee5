/** Asserts that every response in every test matches the OpenAPI document, which is read once. */
import { type Contract, createContract, type ReceivedResponse, type SentRequest } from "./contract.ts";
import { fetchDocument } from "./document.ts";

interface Startable extends AsyncDisposable {
  readonly url: string;
}

let contract: Promise<Contract> | undefined;

async function readContract(start: () => Promise<Startable>): Promise<Contract> {
  await using service = await start();
  return createContract(await fetchDocument({ request: (path) => fetch(service.url + path) }));
}

/**
 * @param start starts a service from which the document is read, once
 * @throws {Error} if the document does not describe the response
 */
export async function assertDocumented(
  start: () => Promise<Startable>,
  request: SentRequest,
  response: ReceivedResponse,
): Promise<void> {
  contract ??= readContract(start);
  const errors = (await contract)(request, response);
  if (errors.length === 0) return;
  throw new Error(`${request.method} ${request.path} does not match the document: ${errors.join("; ")}`);
}
