/** The contract as the fixture applies it: read once from a service, then asked about every answer of every test. */
import { type Contract, createContract, type ReceivedAnswer, type SentRequest } from "./openapi-contract.ts";
import { fetchDocument } from "./openapi-document.ts";

interface Startable extends AsyncDisposable {
  readonly url: string;
}

let contract: Promise<Contract> | undefined;

async function readContract(start: () => Promise<Startable>): Promise<Contract> {
  await using service = await start();
  return createContract(await fetchDocument({ request: (path) => fetch(service.url + path) }));
}

/**
 * @param start gives a service that answers with its document, used the first time alone
 * @throws {Error} when the answer is not one that the document promises
 */
export async function holdToContract(
  start: () => Promise<Startable>,
  request: SentRequest,
  answer: ReceivedAnswer,
): Promise<void> {
  contract ??= readContract(start);
  const faults = (await contract)(request, answer);
  if (faults.length === 0) return;
  throw new Error(`${request.method} ${request.path} breaks the document: ${faults.join("; ")}`);
}
