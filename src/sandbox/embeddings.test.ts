import { expect, test } from "bun:test";
import { UpstreamError } from "../domain/upstream-error.ts";
import { sandboxEmbeddings } from "./embeddings.ts";

const { signal } = new AbortController();
const embed = (text: string) =>
  sandboxEmbeddings.embed({ raw: "", texts: [text], dimensions: 8, upstreamModel: "sandbox", signal });

test("others get turns while the longest text is embedded", async () => {
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 1);
  await embed("蘸".repeat(1024 * 1024));
  clearInterval(timer);
  expect(turns).toBeGreaterThan(5);
});

test("longer texts are refused", async () => {
  await expect(embed("x".repeat(1024 * 1024 + 1))).rejects.toThrow(UpstreamError);
});
