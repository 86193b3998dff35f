import fc from "fast-check";
import { describe, expect, test } from "bun:test";
import { readReply } from "../../dialects/chat/forward.ts";
import { openStream } from "../../dialects/chat/stream.ts";
import { charge, type TokenPrice } from "../../domain/price.ts";
import { sumTokens, type TokenUsage, type UsageReport } from "../../domain/usage.ts";
import {
  billableUsage,
  DEFAULT_USES,
  INPUT_MARGIN,
  MAX_BILLED_TOKENS,
  MAX_USES,
  maxUsesOf,
  REASONING_MARGIN,
  usageBounds,
  type UsageBounds,
} from "./usage-policy.ts";

const SEED = 20_261_122;
const BOUNDS: UsageBounds = {
  estimatedInput: 30,
  maxInput: 4_000,
  maxVisible: 4_500,
  maxOutput: 70_000,
  maxUses: { web_search: 5 },
};
const RATE = { amount: 1_000_000_000n, source: "default", effectiveFrom: 0 } as const;
const PRICE: TokenPrice = { unit: "token", currency: "USD", perMillion: { input: RATE, output: RATE } };

function report(tokens: UsageReport["tokens"], more: Partial<UsageReport> = {}): UsageReport {
  return {
    tokens: { input: 0, output: 0, ...tokens },
    hasInput: true,
    hasOutput: true,
    isAnomalous: false,
    ...more,
  };
}

const bill = (found: UsageReport | null, deliveredTokens = 0, isReportFinal = true) =>
  billableUsage(BOUNDS, { report: found, deliveredTokens, seenUses: {}, isReportFinal });

describe("a report", () => {
  test("that is in order is billed as it is", () => {
    const tokens = { input: 3, cacheRead: 4, output: 5, reasoning: 6 };
    expect(bill(report(tokens), 2_000)).toEqual({ unit: "token", tokens, source: "upstream" });
  });

  test("of zero output for nothing delivered is in order", () => {
    expect(bill(report({ input: 3 }))).toMatchObject({ source: "upstream", tokens: { input: 3, output: 0 } });
  });

  test.each([
    ["no report", null, { input: 30, output: 9 }],
    ["no input", report({ output: 5 }), { input: 30, output: 5 }],
    ["no output", report({ input: 3 }), { input: 3, output: 9 }],
    ["unusable output", report({ input: 3 }, { hasOutput: false }), { input: 3, output: 9 }],
    ["unusable input", report({ output: 5 }, { hasInput: false }), { input: 30, output: 5 }],
    ["less reasoning alone than was delivered", report({ input: 3, reasoning: 2 }), { input: 3, output: 7 }],
  ])("with %s is estimated where it lacks something", (_, found, tokens) => {
    expect(bill(found, 9)).toMatchObject({ source: "estimated", tokens });
  });

  test.each([
    ["input", report({ input: 1e12, cacheRead: 5, output: 5 }), { input: 4_000, output: 5 }],
    ["output", report({ input: 3, output: 1e12, reasoning: 7 }), { input: 3, output: 4_500, reasoning: 7 }],
    ["output, by one", report({ input: 3, output: 4_501 }), { input: 3, output: 4_500 }],
    [
      "pictures",
      report({ input: 3, output: 9, imageOutput: 4_499 }),
      { input: 3, output: 1, imageOutput: 4_499 },
    ],
    [
      "reasoning",
      report({ input: 3, output: 5, reasoning: 1e12 }),
      { input: 3, output: 5, reasoning: 69_995 },
    ],
  ])("of more %s than the request can cause is capped and flagged", (_, found, tokens) => {
    expect(bill(found, 9)).toEqual({ unit: "token", source: "upstream", anomalous: true, tokens });
  });

  test("has no more than the largest output, reasoning included, of a model that does not reason", () => {
    const bounds = {
      ...BOUNDS,
      ...usageBounds({ estimatedInput: 9, inputCeiling: 9, choices: 1 }, 100, false),
    };
    const found = report({ input: 3, output: 60, reasoning: 65_536 });
    const usage = billableUsage(bounds, {
      report: found,
      deliveredTokens: 9,
      seenUses: {},
      isReportFinal: true,
    });
    expect(usage).toMatchObject({ anomalous: true, tokens: { output: 60, reasoning: 40 } });
  });

  test("is not flagged because the estimate is larger than the request can cause", () => {
    expect(bill(null, 1e9)).toEqual({
      unit: "token",
      source: "estimated",
      tokens: { input: 30, output: 4_500 },
    });
  });

  test("is not estimated as more input than the request can cause", () => {
    const bounds = { ...BOUNDS, estimatedInput: BOUNDS.maxInput + 1 };
    const observed = { report: null, deliveredTokens: 1, seenUses: {}, isReportFinal: true };
    expect(billableUsage(bounds, observed).tokens.input).toBe(BOUNDS.maxInput);
  });

  test("that is not final gives way to a larger estimate, and only to a larger one", () => {
    expect(bill(report({ input: 3, output: 5 }), 9, false)).toMatchObject({
      source: "estimated",
      tokens: { input: 3, output: 9 },
    });
    expect(bill(report({ input: 3, output: 50 }), 9, false)).toMatchObject({
      source: "upstream",
      tokens: { input: 3, output: 50 },
    });
  });
});

describe("uses of a feature", () => {
  /** Returns the billed uses when the vendor reports `counts`. */
  const uses = (counts: NonNullable<UsageReport["uses"]>) => {
    const found = report({ input: 3, output: 5 }, { uses: counts });
    const observed = { report: found, deliveredTokens: 5, seenUses: counts, isReportFinal: true };
    const { uses: billed, anomalous = false } = billableUsage(BOUNDS, observed);
    return { billed, anomalous };
  };

  test("are billed as they are reported", () => {
    expect(uses({ web_search: 5 })).toEqual({ billed: { web_search: 5 }, anomalous: false });
    expect(uses({ web_search: 0 })).toEqual({ billed: undefined, anomalous: false });
  });

  test.each([
    ["not reported", undefined, true, { source: "estimated" }],
    ["reported as none", { web_search: 0 }, true, { source: "estimated" }],
    ["reported before the response was cut", { web_search: 1 }, false, { source: "estimated" }],
    ["reported as fewer", { web_search: 1 }, true, { source: "upstream", anomalous: true }],
  ])("that were seen and %s are billed as they were seen, and flagged", (_, counts, isReportFinal, flags) => {
    const found = report({ input: 3, output: 5 }, counts && { uses: counts });
    const usage = billableUsage(BOUNDS, {
      report: found,
      deliveredTokens: 5,
      seenUses: { web_search: 2 },
      isReportFinal,
    });
    expect(usage).toEqual({
      unit: "token",
      tokens: { input: 3, output: 5 },
      uses: { web_search: 2 },
      ...flags,
    } as TokenUsage);
  });

  test.each([true, false])(
    "that are reported and not seen are billed, and flagged (final: %p)",
    (isReportFinal) => {
      const found = report({ input: 3, output: 5 }, { uses: { web_search: 3 } });
      const observed = { report: found, deliveredTokens: 5, seenUses: { web_search: 2 }, isReportFinal };
      expect(billableUsage(BOUNDS, observed)).toMatchObject({
        uses: { web_search: 3 },
        source: "upstream",
        anomalous: true,
      });
    },
  );

  test("that were seen without a report are billed", () => {
    const observed = { report: null, deliveredTokens: 5, seenUses: { web_search: 9 }, isReportFinal: true };
    expect(billableUsage(BOUNDS, observed)).toMatchObject({ uses: { web_search: 5 }, anomalous: true });
  });

  test("are capped and flagged where the request allows fewer, or none", () => {
    expect(uses({ web_search: 2 ** 40 })).toEqual({ billed: { web_search: 5 }, anomalous: true });
    expect(uses({ web_fetch: 1 })).toEqual({ billed: undefined, anomalous: true });
  });
});

test("a cost is kept from a vendor that is known to report it, and from no other", () => {
  const cost = { amount: 5n, currency: "USD" };
  const observed = {
    report: report({ input: 3, output: 5 }, { cost }),
    deliveredTokens: 5,
    seenUses: {},
    isReportFinal: true,
  };
  expect(billableUsage({ ...BOUNDS, reportsCost: true }, observed).vendorCost).toEqual(cost);
  expect(billableUsage(BOUNDS, observed)).not.toHaveProperty("vendorCost");
});

describe("the bounds of a request", () => {
  const request = { estimatedInput: 25, inputCeiling: 100, choices: 2 };

  test("are its prompt, its output for every choice, and margins", () => {
    const bounds = {
      estimatedInput: 25,
      maxInput: 100 + INPUT_MARGIN,
      maxVisible: 2_000,
      maxOutput: 2 * (1_000 + REASONING_MARGIN),
      maxUses: {},
    };
    expect(usageBounds(request, 1_000, true)).toEqual(bounds);
    expect(usageBounds(request, 1_000, false)).toEqual({ ...bounds, maxOutput: 2_000 });
  });

  test("have the uses of the features that it names: its own maximum, or a stated one", () => {
    const uses = (...maxima: (number | undefined)[]) =>
      maxUsesOf(
        maxima.map((maxUses) => ({
          feature: "web_search",
          param: "tools",
          ...(maxUses !== undefined && { maxUses }),
        })),
      );
    expect(uses()).toEqual({});
    expect(uses(3)).toEqual({ web_search: 3 });
    expect(uses(undefined)).toEqual({ web_search: DEFAULT_USES });
    expect(uses(3, undefined)).toEqual({ web_search: 3 + DEFAULT_USES });
    expect(uses(1e12)).toEqual({ web_search: MAX_USES });
    const features = [{ feature: "web_search", param: "tools", maxUses: 7 }] as const;
    expect(usageBounds({ ...request, features }, 1, false).maxUses).toEqual({ web_search: 7 });
  });

  test("never exceed a ledger entry", () => {
    const huge = { ...request, choices: Number.MAX_SAFE_INTEGER };
    const inputCeiling = Number.MAX_SAFE_INTEGER;
    const { maxInput, maxVisible, maxOutput } = usageBounds({ ...huge, inputCeiling }, inputCeiling, true);
    expect([maxInput, maxVisible, maxOutput]).toEqual(Array.from({ length: 3 }, () => MAX_BILLED_TOKENS));
  });
});

describe("whatever a vendor reports", () => {
  const hostile = fc.oneof(
    fc.constantFrom(
      0,
      -1,
      0.5,
      1e12,
      1e30,
      1e308,
      Number.MAX_SAFE_INTEGER,
      2 ** 63,
      "500",
      null,
      true,
      [],
      {},
    ),
    fc.integer({ min: -5, max: 300 }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
  );
  const details = fc.oneof(
    hostile,
    fc.record(
      {
        cached_tokens: hostile,
        reasoning_tokens: hostile,
        image_tokens: hostile,
        cache_write_tokens: hostile,
      },
      { requiredKeys: [] },
    ),
  );
  const usages = fc.oneof(
    hostile,
    fc.record(
      {
        prompt_tokens: hostile,
        completion_tokens: hostile,
        total_tokens: hostile,
        prompt_tokens_details: details,
        completion_tokens_details: details,
        prompt_cache_hit_tokens: hostile,
      },
      { requiredKeys: [] },
    ),
  );
  const texts = fc.array(fc.string({ unit: "grapheme", minLength: 1, maxLength: 60 }), {
    minLength: 1,
    maxLength: 6,
  });

  test("a delivered response has an integer, positive and bounded bill, which its reply shows", () => {
    const property = fc.property(usages, texts, (usage, pieces) => {
      const { text, usage: billed } = readWhole(usage, pieces);
      expectSound(billed);
      const shown = JSON.parse(text).usage;
      if (billed.source === "upstream" && !billed.anomalous) expect(shown).toEqual(plain(usage));
      else expect(shown).toMatchObject(expectedNumbers(billed));
    });
    fc.assert(property, { seed: SEED, numRuns: 1_000 });
  });

  test("a stream costs what the same response costs at once, wherever its report is", () => {
    const property = fc.property(
      usages,
      texts,
      fc.constantFrom("after", "finish"),
      (usage, pieces, where) => {
        const { billed, sent } = readStream(usage, pieces, where);
        expect(billed).toEqual(readWhole(usage, pieces).usage);
        const shown = sent.findLast((event) => event["usage"])?.["usage"];
        if (billed.source === "estimated" || billed.anomalous)
          expect(shown).toMatchObject(expectedNumbers(billed));
      },
    );
    fc.assert(property, { seed: SEED, numRuns: 500 });
  });

  test("a cut stream never costs less than what was delivered, whenever usage was reported", () => {
    const property = fc.property(usages, texts, (usage, pieces) => {
      const stream = openStream("m", policy);
      stream.push(chunk({ choices: [choice({ content: pieces[0] })], usage }));
      for (const content of pieces.slice(1)) stream.push(chunk({ choices: [choice({ content })] }));
      const billed = stream.usage();
      expectSound(billed);
      const { output = 0 } = readWhole(null, pieces).usage.tokens;
      expect(sumTokens(billed.tokens, ["output", "reasoning", "imageOutput"])).toBeGreaterThanOrEqual(output);
    });
    fc.assert(property, { seed: SEED, numRuns: 500 });
  });
});

const policy = (observed: Parameters<typeof billableUsage>[1]) => billableUsage(BOUNDS, observed);

function readWhole(usage: unknown, pieces: readonly string[]) {
  const choices = [
    { index: 0, message: { role: "assistant", content: pieces.join("") }, finish_reason: "stop" },
  ];
  return readReply({ text: JSON.stringify({ id: "c", model: "m", choices, usage }) }, "m", policy);
}

function readStream(usage: unknown, pieces: readonly string[], where: string) {
  const stream = openStream("m", policy);
  const output = pieces.map((content) => stream.push(chunk({ choices: [choice({ content })] })));
  const last = { choices: [choice({}, "stop")] };
  output.push(stream.push(chunk(where === "finish" ? { ...last, usage } : last)));
  if (where === "after") output.push(stream.push(chunk({ choices: [], usage })));
  output.push(stream.end());
  const data = Buffer.concat(output)
    .toString()
    .split("\n\n")
    .filter((frame) => frame.startsWith("data: {"));
  const sent = data.map((frame): Record<string, unknown> => JSON.parse(frame.slice(6)));
  return { billed: stream.usage(), sent };
}

function chunk(event: object): Buffer<ArrayBuffer> {
  return Buffer.from(`data: ${JSON.stringify({ id: "c", model: "m", ...event })}\n\n`);
}

function choice(delta: object, finish_reason: string | null = null): object {
  return { index: 0, delta, finish_reason };
}

function expectSound(usage: TokenUsage): void {
  for (const count of Object.values(usage.tokens)) {
    expect(Number.isSafeInteger(count)).toBe(true);
    expect(count).toBeGreaterThanOrEqual(0);
  }
  const input = sumTokens(usage.tokens, ["input", "cacheRead", "cacheWrite", "imageInput"]);
  const output = sumTokens(usage.tokens, ["output", "reasoning", "imageOutput"]);
  expect(input).toBeWithin(1, BOUNDS.maxInput + 1);
  expect(output).toBeWithin(1, BOUNDS.maxOutput + 1);
  expect(charge(PRICE, usage)?.amount).toBeGreaterThan(0n);
}

function expectedNumbers(usage: TokenUsage): object {
  const prompt = sumTokens(usage.tokens, ["input", "cacheRead", "cacheWrite", "imageInput"]);
  const completion = sumTokens(usage.tokens, ["output", "reasoning", "imageOutput"]);
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
