import { expect, test } from "bun:test";
import { policyFor } from "../../../test/support/usage-policy.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";
import { readReply } from "./reply.ts";
import { readRequest } from "./request.ts";

const payload = readRequest(Buffer.from('{"model":"public","input":["a","b"]}'));
const read = (...embeddings: unknown[]) => {
  const data = embeddings.map((embedding) => (embedding === null ? null : { embedding }));
  const text = JSON.stringify({ data, model: "vendor", usage: { prompt_tokens: 4 } });
  return readReply({ text, parsed: JSON.parse(text) }, payload, policyFor(9));
};

test("a reply with a vector for each input is passed on", () => {
  expect(read([0.5], "AAAAPw==").usage).toMatchObject({ source: "upstream", tokens: { input: 4 } });
});

test.each([[[[1]]], [[[1], []]], [[[1], ""]], [[[1], null]], [[[1], 7]], [[[1], [1], [1]]]])(
  "vectors %j are a failure of the vendor, as its clients would fail on them",
  (embeddings) => {
    expect(() => read(...embeddings)).toThrow(UpstreamError);
  },
);
