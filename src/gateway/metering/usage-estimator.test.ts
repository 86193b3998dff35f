import { expect, test } from "bun:test";
import type { ObservedUsage } from "../../domain/usage.ts";
import { UsageEstimator, type CountTokens } from "./usage-policy.ts";

const BOUNDS = { estimatedInput: 100, maxInput: 10_000, maxVisible: 10_000, maxOutput: 10_000, maxUses: {} };
const PROMPT = { text: "prompt", share: 1, otherTokens: 5 };
const DELIVERED = { text: "answer", share: 0.5, otherTokens: 0 };
const REPORT = { tokens: { input: 3, output: 4 }, hasInput: true, hasOutput: true, isAnomalous: false };

function open(counts: Record<string, number | null>) {
  const counted: string[] = [];
  const countTokens: CountTokens = async (text) => {
    counted.push(text);
    return counts[text] ?? null;
  };
  const estimator = new UsageEstimator(BOUNDS, () => PROMPT, countTokens);
  const usage = (observed: Partial<ObservedUsage>) => {
    const known = {
      report: null,
      deliveredTokens: 8,
      delivered: DELIVERED,
      seenUses: {},
      isReportFinal: true,
    };
    return estimator.policy({ ...known, ...observed });
  };
  return { estimator, usage, counted };
}

test("a count that the vendor has reported is not made here", () => {
  const { estimator, usage, counted } = open({});
  expect(estimator.refine(() => usage({ report: REPORT }))).toBeNull();
  expect(counted).toEqual([]);
  expect(usage({ report: REPORT })).toMatchObject({ source: "upstream", tokens: { input: 3, output: 4 } });
});

test("without a report, counts take the place of the rule of thumb, once", async () => {
  const { estimator, usage, counted } = open({ prompt: 20, answer: 6 });
  expect(usage({}).tokens).toEqual({ input: 100, output: 8 });
  await Promise.all([estimator.refine(() => usage({})), estimator.refine(() => usage({}))]);
  expect(counted).toEqual(["prompt", "answer"]);
  expect(usage({})).toMatchObject({ source: "estimated", tokens: { input: 25, output: 12 } });
  // Text was delivered after the tokenizer had counted.
  expect(usage({ deliveredTokens: 11 }).tokens).toEqual({ input: 25, output: 15 });
});

test("input that was reported stays, when only the output is missing", async () => {
  const { estimator, usage, counted } = open({ answer: 6 });
  const report = { ...REPORT, tokens: { input: 3 }, hasOutput: false };
  await estimator.refine(() => usage({ report }));
  expect(counted).toEqual(["answer"]);
  expect(usage({ report }).tokens).toEqual({ input: 3, output: 12 });
});

test("the rule of thumb stays where nothing can be counted", async () => {
  const { estimator, usage } = open({});
  await estimator.refine(() => usage({}));
  expect(usage({}).tokens).toEqual({ input: 100, output: 8 });
});

test("a reply is read again with the new counts", async () => {
  const { estimator, usage } = open({ prompt: 20, answer: 6 });
  const read = () => ({ usage: usage({}), text: String(usage({}).tokens.output) });
  expect(await estimator.refined(read)).toMatchObject({ text: "12" });
});
