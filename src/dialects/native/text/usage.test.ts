import { describe, expect, test } from "bun:test";
import { readUsage, writeUsage } from "./usage.ts";

describe("a vendor's usage is read into disjoint categories", () => {
  test.each([
    [
      "thoughts are beside the candidates, cached tokens inside of the prompt, tools' apart from it",
      {
        promptTokenCount: 100,
        cachedContentTokenCount: 40,
        toolUsePromptTokenCount: 7,
        candidatesTokenCount: 50,
        thoughtsTokenCount: 30,
        totalTokenCount: 187,
      },
      { input: 67, cacheRead: 40, output: 50, reasoning: 30 },
    ],
    [
      "thoughts that the total has among the candidates count once",
      { promptTokenCount: 10, candidatesTokenCount: 50, thoughtsTokenCount: 30, totalTokenCount: 60 },
      { input: 10, output: 20, reasoning: 30 },
    ],
    ["zeros are absent", { promptTokenCount: 10, totalTokenCount: 10 }, { input: 10, output: 0 }],
    [
      "pictures among the candidates have a category",
      {
        promptTokenCount: 10,
        candidatesTokenCount: 1_300,
        totalTokenCount: 1_310,
        candidatesTokensDetails: [{ modality: "IMAGE", tokenCount: 1_290 }],
      },
      { input: 10, output: 10, imageOutput: 1_290 },
    ],
  ])("%s", (_, usage, tokens) => {
    expect(readUsage(usage)).toEqual({ tokens, hasInput: true, hasOutput: true, isAnomalous: false });
  });

  test.each([[-1], [1.5], ["5"], [2 ** 60], [Number.NaN]])("%p is no count", (promptTokenCount) => {
    const report = readUsage({ promptTokenCount, candidatesTokenCount: 3 });
    expect(report).toMatchObject({ tokens: { output: 3 }, hasInput: false, isAnomalous: true });
  });

  test("more cached tokens than the prompt has are none", () => {
    expect(readUsage({ promptTokenCount: 5, cachedContentTokenCount: 9 })).toMatchObject({
      tokens: { input: 0, cacheRead: 5 },
      isAnomalous: true,
    });
  });
});

test("a usage that is written is read as it was", () => {
  const tokens = { input: 5, cacheRead: 4, output: 3, reasoning: 2 };
  const written = writeUsage({ unit: "token", tokens, source: "upstream" });
  expect(written.totalTokenCount).toBe(14);
  expect(readUsage(written)!.tokens).toEqual(tokens);
});
