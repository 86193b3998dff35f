import { expect, test } from "bun:test";
import { plainCore } from "../../test/support/plain-core.ts";
import { PRICE } from "../../test/support/plain-text.ts";
import { readRequest } from "../dialects/embeddings/index.ts";
import type { EmbeddingModel } from "../domain/model.ts";
import { untilAborted } from "../lib/waiting.ts";
import { handleEmbeddings } from "./embeddings.ts";
import type { EmbeddingUpstream, TextUpstream } from "./upstreams.ts";
import { ClientDisconnected } from "./routing/call.ts";

const MODEL: EmbeddingModel = {
  id: "m",
  type: "embedding",
  displayName: "M",
  ownedBy: "us",
  created: 0,
  isRetired: false,
  dimensions: 4,
};
const target: TextUpstream = { dialect: "chat", send: () => Promise.reject(new Error("no text")) };
const payload = readRequest(Buffer.from('{"model":"m","input":["one","two"]}'));

test("a client that disconnects pays for the input of the call that was sent, as a tokenizer counts it", async () => {
  const client = new AbortController();
  const { core, request, charges, isAllGivenBack } = plainCore({
    model: MODEL,
    price: PRICE,
    text: [target],
    budget: 50_000n,
  });
  const upstream: EmbeddingUpstream = {
    embed: ({ signal }) => {
      client.abort();
      return untilAborted(new Promise<never>(() => {}), signal);
    },
  };
  core.upstreams = { ...core.upstreams, embedding: () => upstream };
  core.tokenCounter = { ...core.tokenCounter, count: async () => 17 };
  const served = handleEmbeddings(core, request(client.signal), payload);
  await expect(served).rejects.toBeInstanceOf(ClientDisconnected);
  expect(charges()).toMatchObject([
    { usage: { source: "estimated", tokens: { input: 17 } }, flags: ["partial", "caller_gone", "estimated"] },
  ]);
  expect(await isAllGivenBack()).toBe(true);
});
