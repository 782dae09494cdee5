/**
 * Form-encoded bodies, which only the token endpoint of OAuth accepts (RFC 6749, appendix B). An empty value counts as absent, and
 * parameters that the schema does not declare are ignored (§3.2).
 */
import type Type from "typebox";
import { ServiceError } from "../errors.ts";
import { readBounded } from "./body.ts";
import { validator } from "./validator.ts";

const FORM_CONTENT_TYPE = /^\s*application\/x-www-form-urlencoded\s*(;|$)/i;

type Parameters = Readonly<Record<string, string>>;

/**
 * Returns the `parse` function of a route. This function returns the parameters that the schema declares.
 * @throws INVALID_TOKEN_REQUEST if the body is not form-encoded UTF-8, or a parameter is repeated
 * @throws PAYLOAD_TOO_LARGE like `jsonBody`
 */
export function formBody({ properties }: Type.TObject) {
  const names = Object.keys(properties);
  return async ({ request }: { readonly request: Request }): Promise<Parameters> => {
    const bytes = await readBounded(request);
    const { headers } = request;
    const isEncoded = !/^(identity)?$/i.test(headers.get("content-encoding") ?? "");
    if (isEncoded || !FORM_CONTENT_TYPE.test(headers.get("content-type") ?? ""))
      throw new ServiceError("INVALID_TOKEN_REQUEST");
    const sent = new URLSearchParams(decode(bytes));
    const parameters = names.flatMap((name) => {
      const values = sent.getAll(name);
      if (values.length > 1) throw new ServiceError("INVALID_TOKEN_REQUEST", { parameter: name });
      return values[0] ? [[name, values[0]] as const] : [];
    });
    return Object.fromEntries(parameters);
  };
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new ServiceError("INVALID_TOKEN_REQUEST");
  }
}

/**
 * Returns a function that returns the parameters if they are valid.
 * @param check runs first
 * @throws INVALID_TOKEN_REQUEST with the name of the first parameter that is missing or malformed
 */
export function formValidator<Schema extends Type.TObject>(
  schema: Schema,
  check: (parameters: Parameters) => void,
): (parsed: unknown) => Type.Static<Schema> {
  const validate = validator(schema, "body");
  return (parsed) => {
    check(asParameters(parsed));
    try {
      return validate(parsed);
    } catch (error) {
      if (!(error instanceof ServiceError && error.code === "INVALID_REQUEST")) throw error;
      const [issue] = error.properties.issues ?? [];
      throw new ServiceError("INVALID_TOKEN_REQUEST", { parameter: String(issue?.loc.at(-1)) });
    }
  };
}

/** The cast is safe because `formBody` has parsed the body. */
const asParameters = (parsed: unknown): Parameters => parsed as Parameters;
