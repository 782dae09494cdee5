/** A client that expects something before it sends its body gets it, or an error at once. */
import { expect, test } from "bun:test";
import { shareService } from "../support/service.ts";
import { jsonRequest, openWire } from "../support/wire.ts";

const shared = shareService();
const todo = (expectation: string) => jsonRequest("POST /todos", '{"title":"x"}', `Expect: ${expectation}`);

test.each(["100-Continue", "100-continue, x", "200-ok"])(
  "Expect: %s returns 417 and closes the connection",
  async (value) => {
    using wire = await openWire({ port: shared().port, deadlineMs: 2_000 });
    const request = todo(value);
    wire.send(request.slice(0, request.indexOf("{")));
    const response = await wire.readResponse("POST");
    expect(response?.status).toBe(417);
    expect(String(response?.body)).toBe('{"detail":"Expectation Failed","code":"EXPECTATION_FAILED"}');
    const headers = new Map(response?.headers);
    expect(headers.get("connection")).toBe("close");
    expect(headers.get("x-request-id")).toBeString();
    await wire.closed;
  },
);

test("Expect: 100-continue is answered, and the body is then accepted", async () => {
  using wire = await openWire(shared());
  const request = todo("100-continue");
  const bodyStart = request.indexOf("{");
  wire.send(request.slice(0, bodyStart));
  // The interim response precedes the final one, which `readResponse` returns.
  const response = wire.readResponse("POST");
  wire.send(request.slice(bodyStart));
  expect((await response)?.status).toBe(201);
});
