import fc from "fast-check";
import { describe, expect, test } from "bun:test";
import { INPUT_CATEGORIES, OUTPUT_CATEGORIES, sumTokens, type UsageReport } from "../domain/usage.ts";
import { readUsage as readChat } from "./chat/usage.ts";
import { readUsage as readEmbeddings } from "./embeddings/reply.ts";
import { readUsage as readMessages } from "./messages/usage.ts";
import { readUsage as readNative } from "./native/text/usage.ts";
import { readUsage as readResponses } from "./responses/usage.ts";

/* Tests the readers of a vendor's token usage with hostile, incomplete or contradictory reports. */

/** Path of a number in a protocol's usage: the names of the nested fields, outermost first. */
type Path = readonly string[];

/**
 * The structure of a protocol's usage: its sums and their parts. A part cannot exceed its sum minus the parts in
 * `beside`.
 */
interface Reader {
  read(value: unknown): UsageReport | null;
  input: readonly Path[];
  output: readonly Path[];
  total?: Path;
  /** Parts, in the order of their subtraction from the sum. */
  parts: readonly { of: Path; path: Path; beside?: readonly Path[] }[];
}

const READERS = {
  chat: {
    read: readChat,
    input: [["prompt_tokens"]],
    output: [["completion_tokens"]],
    total: ["total_tokens"],
    parts: [
      { of: ["prompt_tokens"], path: ["prompt_tokens_details", "cached_tokens"] },
      {
        of: ["prompt_tokens"],
        path: ["prompt_tokens_details", "cache_write_tokens"],
        beside: [["prompt_tokens_details", "cached_tokens"]],
      },
      {
        of: ["prompt_tokens"],
        path: ["prompt_tokens_details", "image_tokens"],
        beside: [["prompt_tokens_details", "cache_write_tokens"]],
      },
      { of: ["completion_tokens"], path: ["completion_tokens_details", "reasoning_tokens"] },
      {
        of: ["completion_tokens"],
        path: ["completion_tokens_details", "image_tokens"],
        beside: [["completion_tokens_details", "reasoning_tokens"]],
      },
    ],
  },
  messages: {
    read: readMessages,
    input: [["input_tokens"], ["cache_read_input_tokens"], ["cache_creation_input_tokens"]],
    output: [["output_tokens"]],
    parts: [
      { of: ["cache_creation_input_tokens"], path: ["cache_creation", "ephemeral_5m_input_tokens"] },
      {
        of: ["cache_creation_input_tokens"],
        path: ["cache_creation", "ephemeral_1h_input_tokens"],
        beside: [["cache_creation", "ephemeral_5m_input_tokens"]],
      },
      { of: ["output_tokens"], path: ["output_tokens_details", "thinking_tokens"] },
    ],
  },
  responses: {
    read: readResponses,
    input: [["input_tokens"]],
    output: [["output_tokens"]],
    total: ["total_tokens"],
    parts: [
      { of: ["input_tokens"], path: ["input_tokens_details", "cached_tokens"] },
      {
        of: ["input_tokens"],
        path: ["input_tokens_details", "cache_write_tokens"],
        beside: [["input_tokens_details", "cached_tokens"]],
      },
      { of: ["output_tokens"], path: ["output_tokens_details", "reasoning_tokens"] },
    ],
  },
  native: {
    read: readNative,
    input: [["promptTokenCount"], ["toolUsePromptTokenCount"]],
    output: [["candidatesTokenCount"], ["thoughtsTokenCount"]],
    total: ["totalTokenCount"],
    parts: [{ of: ["promptTokenCount"], path: ["cachedContentTokenCount"] }],
  },
  embeddings: {
    read: readEmbeddings,
    input: [["prompt_tokens"]],
    output: [],
    total: ["total_tokens"],
    parts: [],
  },
} satisfies Record<string, Reader>;

const CASES = Object.entries(READERS).map(([name, reader]): [string, Reader] => [name, reader]);

/** Returns a usage with these numbers at their paths. */
function usageOf(...numbers: readonly (readonly [Path, unknown])[]): Record<string, unknown> {
  const usage: Record<string, Record<string, unknown>> = {};
  for (const [[first = "", second], value] of numbers)
    if (second === undefined) Object.assign(usage, { [first]: value });
    else (usage[first] ??= {})[second] = value;
  return usage;
}

const SUM = 40;

/** Returns the numbers of a usage in which each sum is 40 and the total agrees with the sums. */
function sound({ input, output, total }: Reader): (readonly [Path, unknown])[] {
  const sums = [...input, ...output].map((path): [Path, number] => [path, SUM]);
  return total ? [...sums, [total, SUM * sums.length]] : sums;
}

function sums(report: UsageReport | null): [number, number] {
  const { tokens } = report!;
  return [sumTokens(tokens, INPUT_CATEGORIES), sumTokens(tokens, OUTPUT_CATEGORIES)];
}

function expectCounts(report: UsageReport | null): void {
  for (const count of Object.values(report?.tokens ?? {})) {
    expect(Number.isSafeInteger(count)).toBe(true);
    expect(count).toBeGreaterThanOrEqual(0);
  }
}

const IMPOSSIBLE = [-1, -0.5, 0.5, 1e30, 1e308, Number.NaN, Infinity, 2 ** 60, "40", true, {}, [], [40]];

describe.each(CASES)("the usage of %s", (_, reader) => {
  const expected = [SUM * reader.input.length, SUM * reader.output.length] as [number, number];
  const { read } = reader;

  test("is no report where it is no object", () => {
    for (const value of [undefined, null, 12, "12", true, [], [1], Number.NaN])
      expect(read(value)).toBeNull();
  });

  test("that is sound keeps its sums, and has no flag", () => {
    const report = read(usageOf(...sound(reader)));
    expect(sums(report)).toEqual(expected);
    expect(report).toMatchObject({ hasInput: true, hasOutput: true, isAnomalous: false });
    expect(sums(read({}))).toEqual([0, 0]);
    expect(read({})).toMatchObject({ hasInput: false, isAnomalous: false });
  });

  test.each(reader.parts.map((part) => [part.path.join("."), part] as const))(
    "has %s inside of its whole: more is anomalous, and none of it is lost or negative",
    (__, { of, path, beside = [] }) => {
      for (const count of [0, 1, SUM, undefined, null]) {
        const report = read(usageOf(...sound(reader), [path, count]));
        expect([sums(report), report!.isAnomalous]).toEqual([expected, false]);
        expectCounts(report);
      }
      for (const count of [SUM + 1, 2 ** 40]) {
        const report = read(usageOf(...sound(reader), [path, count]));
        expect([sums(report), report!.isAnomalous]).toEqual([expected, true]);
        expectCounts(report);
      }
      for (const other of beside) {
        const report = read(usageOf(...sound(reader), [path, 30], [other, 30]));
        expect([sums(report), report!.isAnomalous]).toEqual([expected, true]);
        expectCounts(report);
        const fitting = read(usageOf(...sound(reader), [path, 10], [other, 30]));
        expect([sums(fitting), fitting!.isAnomalous]).toEqual([expected, false]);
      }
      const alone = sound(reader).filter(([each]) => each !== of);
      expectCounts(read(usageOf(...alone, [path, 7])));
    },
  );

  const places: Path[] = [
    ...reader.input,
    ...reader.output,
    ...(reader.total ? [reader.total] : []),
    ...reader.parts.map(({ path }) => path),
  ];
  test.each(places.map((path) => [path.join("."), path] as const))(
    "with an impossible %s is anomalous",
    (__, path) => {
      for (const value of IMPOSSIBLE) {
        const report = read(usageOf(...sound(reader), [path, value]));
        expect([value, report!.isAnomalous]).toEqual([value, true]);
        expectCounts(report);
      }
    },
  );

  test("with a total that is not the sum is anomalous", () => {
    const { total } = reader;
    const all = SUM * (reader.input.length + reader.output.length);
    if (!total) return;
    for (const count of [0, 1, all - 1]) {
      const report = read(usageOf(...sound(reader), [total, count]));
      expect([sums(report), report!.isAnomalous]).toEqual([expected, true]);
    }
    // In chat, tokens that only the total contains are reasoning.
    const above = read(usageOf(...sound(reader), [total, all + 5]));
    if (read === readChat) expect(above).toMatchObject({ tokens: { reasoning: 5 }, isAnomalous: false });
    else expect([sums(above), above!.isAnomalous]).toEqual([expected, true]);
    const without = read(usageOf(...sound(reader).filter(([path]) => path !== total)));
    expect([sums(without), without!.isAnomalous]).toEqual([expected, false]);
  });

  test("with whatever at any place has whole counts, none of them negative, and parts within their wholes", () => {
    const value = fc.oneof(fc.constantFrom(null, undefined, 0, 7, 300, 2 ** 40, ...IMPOSSIBLE), fc.nat(100));
    const numbers = fc.array(fc.tuple(fc.constantFrom(...places), value), { maxLength: 8 });
    const tops = fc.constantFrom(...places.map(([top = ""]) => top));
    const property = fc.property(numbers, fc.option(fc.tuple(tops, value), { freq: 4 }), (some, replaced) => {
      const usage = usageOf(...some);
      if (replaced) usage[replaced[0]] = replaced[1];
      const report = read(usage);
      expectCounts(report);
      // A part never increases the reported sums.
      const told = reader.input.map(([name = ""]) => usage[name]);
      if (told.every((count) => typeof count === "number" && report!.hasInput && !report!.isAnomalous))
        expect(sums(report)[0]).toBe((told as number[]).reduce((sum, count) => sum + count, 0));
    });
    fc.assert(property, { seed: 20_261_123, numRuns: 500 });
  });
});

describe("the usage of messages", () => {
  const tokens = (input_tokens: number, output_tokens: number) => ({ input_tokens, output_tokens });

  test("has what was written to the cache for its default time, unless the split tells another", () => {
    const written = { ...tokens(5, 7), cache_creation_input_tokens: 40 };
    expect(readMessages(written)!.tokens).toEqual({ input: 5, output: 7, cacheWrite: 40 });
    const split = (five: unknown, hour: unknown) =>
      readMessages({
        ...written,
        cache_creation: { ephemeral_5m_input_tokens: five, ephemeral_1h_input_tokens: hour },
      });
    expect(split(undefined, 30)!.tokens).toMatchObject({ cacheWrite: 10, cacheWrite1h: 30 });
    expect(split(10, 300)).toMatchObject({ isAnomalous: true, tokens: { cacheWrite1h: 40 } });
    expect(split(300, 10)).toMatchObject({ isAnomalous: true, tokens: { cacheWrite: 30, cacheWrite1h: 10 } });
  });

  test.each([
    ["add up to it", [tokens(20, 3), tokens(230, 4)], false, [250, 7]],
    ["do not", [tokens(2_004, 7)], true, [2_004, 7]],
    [
      "add up to it without compaction and advice, which are billed too",
      [
        { ...tokens(250, 7), type: "message" },
        { ...tokens(90, 8), type: "compaction" },
      ],
      false,
      [340, 15],
    ],
    [
      "do not, with compaction",
      [
        { ...tokens(240, 7), type: "message" },
        { ...tokens(10, 0), type: "compaction" },
      ],
      true,
      [250, 7],
    ],
    ["are of kinds that are not known", [{ ...tokens(9, 9), type: "later" }], false, [9, 9]],
    ["are impossible", [tokens(-1, 7), tokens(250, 0)], true, [250, 7]],
    ["are no objects", [null, 7], false, [250, 7]],
  ])("has a top level with which its iterations %s", (_, iterations, isAnomalous, expected) => {
    const report = readMessages({ ...tokens(250, 7), iterations });
    expect([sums(report), report!.isAnomalous]).toEqual([expected as [number, number], isAnomalous]);
  });
});

describe("the usage of the native protocol", () => {
  test("has pictures inside of the candidates, and thoughts where the total has them there", () => {
    const usage = { promptTokenCount: 40, candidatesTokenCount: 40, totalTokenCount: 80 };
    const pictures = (tokenCount: unknown) =>
      readNative({ ...usage, candidatesTokensDetails: [{ modality: "IMAGE", tokenCount }] });
    expect(pictures(40)).toMatchObject({ isAnomalous: false, tokens: { output: 0, imageOutput: 40 } });
    for (const count of [41, -1, "4"]) expect(pictures(count)).toMatchObject({ isAnomalous: true });
    expect(sums(pictures(41))).toEqual([40, 40]);
    expect(readNative({ ...usage, thoughtsTokenCount: 30 })).toMatchObject({
      isAnomalous: false,
      tokens: { output: 10, reasoning: 30 },
    });
    expect(readNative({ ...usage, thoughtsTokenCount: 41 })).toMatchObject({
      isAnomalous: true,
      tokens: { output: 0, reasoning: 40 },
    });
  });
});
