import { expect, test } from "bun:test";
import { policyFor } from "../../../test/support/usage-policy.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";
import { readReply } from "./reply.ts";
import { foreignPayload, readRequest } from "./request.ts";

const payload = readRequest(Buffer.from('{"model":"public","input":["a","b"]}'));
const read = (...embeddings: unknown[]) => {
  const data = embeddings.map((embedding) => (embedding === null ? null : { embedding }));
  const text = JSON.stringify({ data, model: "vendor", usage: { prompt_tokens: 4 } });
  return readReply({ text, parsed: JSON.parse(text) }, payload, policyFor(9));
};

test("a reply with a vector for each input is passed on", () => {
  expect(read([0.5], "AAAAPw==").usage).toMatchObject({ source: "upstream", tokens: { input: 4 } });
});

test("vectors for a caller of another protocol stand in the order of their indexes, where each has its own", () => {
  const written = (...indexes: unknown[]) => {
    const data = indexes.map((index, at) => ({ index, embedding: [at] }));
    const text = JSON.stringify({ data, usage: { prompt_tokens: 4 } });
    const foreign = { raw: "{}", texts: ["a", "b"], dimensions: null, purposes: [], ignored: [] };
    const asked = foreignPayload("public", { ...foreign, write: (vectors) => vectors.join() });
    return readReply({ text, parsed: JSON.parse(text) }, asked, policyFor(9)).text;
  };
  expect(written(1, 0)).toBe("[1],[0]");
  for (const indexes of [[], [1, 1], [0, 2], [1, -1], [0.5, 0], ["1", "0"]])
    expect(written(indexes[0], indexes[1])).toBe("[0],[1]");
});

test.each([[[[1]]], [[[1], []]], [[[1], ""]], [[[1], null]], [[[1], 7]], [[[1], [1], [1]]]])(
  "vectors %j are a failure of the vendor, as its clients would fail on them",
  (embeddings) => {
    expect(() => read(...embeddings)).toThrow(UpstreamError);
  },
);
