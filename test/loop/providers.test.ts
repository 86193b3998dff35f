import { afterAll, describe, expect, test } from "bun:test";
import { UpstreamError } from "../../src/domain/upstream-error.ts";
import { JSON_BOUNDS } from "../../src/lib/parse-json.ts";
import { CALLED_PROVIDERS, callsOf, MACHINE_TOKEN } from "./provider-calls.ts";
import { threadTime } from "./thread-time.ts";

/*
 * A provider rejects a response with more than can be parsed quickly, success or error, before parsing it. New
 * providers are included automatically.
 */
const LONG = 510_000;
const ANSWERS: Readonly<Record<string, string>> = {
  "many levels": `{"a":${"[".repeat(LONG)}${"]".repeat(LONG)}}`,
  "many values": `{"a":[${"[],".repeat(LONG)}0]}`,
  "many names": `{${Array.from({ length: 51_000 }, (_, index) => `"n${index}":0`).join(",")}}`,
  "levels in a short text": `{"error":${"[".repeat(JSON_BOUNDS.depth)}${"]".repeat(JSON_BOUNDS.depth)}}`,
};
let answer = "";
let status = 200;
const vendor = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: ({ url }) =>
    url.includes(MACHINE_TOKEN.path)
      ? Response.json(MACHINE_TOKEN.answer)
      : new Response(answer, { status, headers: { "content-type": "application/json" } }),
});
afterAll(() => vendor.stop(true));

describe.each([...CALLED_PROVIDERS])("%s", (name) => {
  const calls = callsOf(name, vendor.url.origin);

  test.each(calls)("gives up on %s with more than can be parsed at once", async (_, call) => {
    for (const [kind, body] of Object.entries(ANSWERS)) {
      for (status of [200, 400]) {
        answer = body;
        const start = threadTime();
        const thrown: unknown = await call().then(
          () => null,
          (error: unknown) => error,
        );
        // Client and server run on this thread. Parsing such a response would take longer than 500 ms.
        expect({ kind, status, isLong: threadTime() - start > 500 }).toEqual({ kind, status, isLong: false });
        expect(thrown).toBeInstanceOf(UpstreamError);
      }
    }
  });
});
