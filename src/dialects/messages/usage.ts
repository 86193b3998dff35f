import {
  INPUT_CATEGORIES,
  OUTPUT_CATEGORIES,
  sumTokens,
  type TokenCategory,
  type TokenCounts,
  type TokenUsage,
  type UsageReport,
  type UseCounts,
} from "../../domain/usage.ts";
import { editMembers, type MemberEdit } from "../../lib/json-edit.ts";
import { isObject, entriesOf } from "../../lib/json.ts";
import { CountReader } from "../usage-reading.ts";

/** The `usage` object of the messages protocol for callers, with all fields that its types require. */
interface MessagesUsage {
  input_tokens: number;
  cache_creation_input_tokens: number;
  cache_read_input_tokens: number;
  cache_creation: { ephemeral_5m_input_tokens: number; ephemeral_1h_input_tokens: number };
  output_tokens: number;
  output_tokens_details: { thinking_tokens: number };
  server_tool_use: Record<string, number> | null;
  service_tier: null;
  inference_geo: null;
  speed: null;
}

/**
 * Reads a vendor's usage into disjoint categories; null when there is no usage. `input_tokens` excludes tokens that are
 * read from or written to the cache. `output_tokens` includes thinking. The top level omits some `iterations`, so the
 * sum of all iterations is used if there are any (Anthropic API, "Prompt caching" and "Compaction").
 */
export function readUsage(value: unknown): UsageReport | null {
  if (!isObject(value)) return null;
  const { iterations } = value;
  const parts = Array.isArray(iterations) ? iterations.filter(isObject) : [];
  const whole = readCounts(value);
  const report = parts.length > 0 ? addReports(parts.map(readCounts)) : whole;
  const isContradicted = parts.length > 0 && !agrees(whole, parts);
  const { uses, isAnomalous } = readUses(value["server_tool_use"]);
  const isUsed = Object.keys(uses).length > 0;
  return {
    ...report,
    isAnomalous: report.isAnomalous || isContradicted || isAnomalous,
    ...(isUsed && { uses }),
  };
}

/**
 * Types of iterations that the top level of the usage excludes. `SUMMED` has the types that the top level includes
 * (Anthropic API, "Compaction", "Advisor tool").
 */
const APART: ReadonlySet<unknown> = new Set(["compaction", "advisor_message"]);
const SUMMED: ReadonlySet<unknown> = new Set([undefined, "message"]);

/**
 * False when the top level of the usage differs from the sum of the iterations with a type in `SUMMED`. Always true
 * when there are iterations of unknown types, because then a difference proves nothing.
 */
function agrees(whole: UsageReport, parts: readonly Record<string, unknown>[]): boolean {
  const summed = parts.filter(({ type }) => SUMMED.has(type));
  if (parts.some(({ type }) => !SUMMED.has(type) && !APART.has(type))) return true;
  const { tokens } = addReports([NOTHING_REPORTED, ...summed.map(readCounts)]);
  const isSame = (categories: readonly TokenCategory[]) =>
    sumTokens(tokens, categories) === sumTokens(whole.tokens, categories);
  return (!whole.hasInput || isSame(INPUT_CATEGORIES)) && (!whole.hasOutput || isSame(OUTPUT_CATEGORIES));
}

const NOTHING_REPORTED: UsageReport = { tokens: {}, hasInput: false, hasOutput: false, isAnomalous: false };

function addReports(reports: readonly UsageReport[]): UsageReport {
  return reports.reduce((sum, each) => ({
    tokens: addTokens(sum.tokens, each.tokens),
    hasInput: sum.hasInput || each.hasInput,
    hasOutput: sum.hasOutput || each.hasOutput,
    isAnomalous: sum.isAnomalous || each.isAnomalous,
  }));
}

/** The counts in `server_tool_use` for each feature (Anthropic API, "Web search tool" and "Web fetch tool"). */
const USE_COUNTS = [
  ["web_search", "web_search_requests"],
  ["web_fetch", "web_fetch_requests"],
] as const;

/** Returns the feature of a block with the result of a vendor's own tool; null for other blocks and for failed uses. */
export function useOf({
  type,
  content,
}: Readonly<Record<string, unknown>>): (typeof USE_COUNTS)[number][0] | null {
  const isFailed = isObject(content) && "error_code" in content;
  const found = isFailed ? undefined : USE_COUNTS.find(([feature]) => type === `${feature}_tool_result`);
  return found?.[0] ?? null;
}

function readUses(value: unknown): { uses: UseCounts; isAnomalous: boolean } {
  const counts = new CountReader();
  const uses: UseCounts = {};
  if (!isObject(value)) return { uses, isAnomalous: false };
  for (const [feature, name] of USE_COUNTS) {
    const count = counts.read(value[name]);
    if (count) uses[feature] = count;
  }
  return { uses, isAnomalous: counts.isAnomalous };
}

function readCounts(value: Record<string, unknown>): UsageReport {
  const counts = new CountReader();
  const input = counts.read(value["input_tokens"]);
  const written = counts.read(value["cache_creation_input_tokens"]);
  const cacheRead = counts.read(value["cache_read_input_tokens"]);
  const split = isObject(value["cache_creation"]) ? value["cache_creation"] : {};
  const fiveMinutes = counts.read(split["ephemeral_5m_input_tokens"]) ?? 0;
  const hour = counts.read(split["ephemeral_1h_input_tokens"]) ?? 0;
  const output = counts.read(value["output_tokens"]);
  const details = isObject(value["output_tokens_details"]) ? value["output_tokens_details"] : {};
  const reasoning = counts.readPart(details["thinking_tokens"], output ?? 0);
  // The total of a later report may exceed the split of an earlier report. The difference has the default lifetime.
  const cacheWrite1h = written === null ? hour : Math.min(hour, written);
  const cacheWrite = written === null ? fiveMinutes : written - cacheWrite1h;
  const isSplitAbove = written !== null && fiveMinutes + hour > written;
  const tokens: TokenCounts = { input: input ?? 0, output: (output ?? 0) - reasoning };
  if (cacheRead) tokens.cacheRead = cacheRead;
  if (cacheWrite) tokens.cacheWrite = cacheWrite;
  if (cacheWrite1h) tokens.cacheWrite1h = cacheWrite1h;
  if (reasoning) tokens.reasoning = reasoning;
  if (isSplitAbove) counts.isAnomalous = true;
  return counts.report(tokens, { input, output });
}

function addTokens(one: TokenCounts, other: TokenCounts): TokenCounts {
  const sum = { ...one };
  for (const [category, count] of entriesOf(other)) {
    sum[category] = (sum[category] ?? 0) + count;
  }
  return sum;
}

/** Fields that merged usage keeps. They are few, because a stream may contain thousands of reports. */
const COUNTED = [
  "input_tokens",
  "cache_creation_input_tokens",
  "cache_read_input_tokens",
  "cache_creation",
  "output_tokens",
  "output_tokens_details",
  "server_tool_use",
  "iterations",
] as const;

/**
 * Merges a later event's usage into the earlier usage of the stream. A later number replaces the earlier number,
 * because numbers are cumulative. Null, absent or zero replaces nothing (Anthropic API, "Streaming messages").
 */
export function mergeUsage(
  earlier: Readonly<Record<string, unknown>>,
  later: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const merged: Record<string, unknown> = {};
  for (const name of COUNTED) {
    const [before, value] = [earlier[name], later[name]];
    const isNews = value !== undefined && value !== null && (value !== 0 || typeof before !== "number");
    merged[name] = isNews ? value : before;
  }
  return merged;
}

/**
 * Merges usage as official clients do. A later number replaces the earlier number, even if the later number is zero.
 * The split of cache writes by lifetime always comes from the first event.
 */
export function mergeUsageAsClients(
  earlier: Readonly<Record<string, unknown>>,
  later: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const merged: Record<string, unknown> = {};
  for (const name of COUNTED) merged[name] = later[name] ?? earlier[name];
  return {
    ...merged,
    output_tokens: later["output_tokens"] ?? undefined,
    cache_creation: earlier["cache_creation"],
  };
}

/** True when this usage shows the billed numbers. Cache writes may be split otherwise: clients read only their sum. */
export function showsBilled(shown: unknown, billed: TokenUsage): boolean {
  const read = readUsage(shown);
  if (!read || !isObject(shown)) return false;
  const { cacheWrite = 0, cacheWrite1h = 0 } = billed.tokens;
  const isSame = (category: TokenCategory) => (read.tokens[category] ?? 0) === (billed.tokens[category] ?? 0);
  const isSameUse = ([feature]: (typeof USE_COUNTS)[number]) =>
    (read.uses?.[feature] ?? 0) === (billed.uses?.[feature] ?? 0);
  const { iterations } = shown;
  const written =
    Array.isArray(iterations) && iterations.some(isObject)
      ? (read.tokens.cacheWrite ?? 0) + (read.tokens.cacheWrite1h ?? 0)
      : (shown["cache_creation_input_tokens"] ?? 0);
  return SHOWN.every(isSame) && written === cacheWrite + cacheWrite1h && USE_COUNTS.every(isSameUse);
}

const SHOWN = ["input", "cacheRead", "output", "reasoning"] as const;

export function writeUsage({ tokens, uses }: TokenUsage): MessagesUsage {
  const {
    input = 0,
    imageInput = 0,
    cacheRead = 0,
    cacheWrite = 0,
    cacheWrite1h = 0,
    reasoning = 0,
  } = tokens;
  return {
    input_tokens: input + imageInput,
    cache_creation_input_tokens: cacheWrite + cacheWrite1h,
    cache_read_input_tokens: cacheRead,
    cache_creation: { ephemeral_5m_input_tokens: cacheWrite, ephemeral_1h_input_tokens: cacheWrite1h },
    output_tokens: sumTokens(tokens, OUTPUT_CATEGORIES),
    output_tokens_details: { thinking_tokens: reasoning },
    server_tool_use: uses ? writeUses(uses) : null,
    service_tier: null,
    inference_geo: null,
    speed: null,
  };
}

function writeUses(uses: UseCounts): Record<string, number> {
  return Object.fromEntries(USE_COUNTS.map(([feature, name]) => [name, uses[feature] ?? 0]));
}

/**
 * Returns the text of a vendor's `usage` with the billed numbers. Other fields stay unchanged. A value that is not an
 * object is replaced. With `hasIterations`, the client has `iterations` from an earlier event. An empty list replaces
 * these iterations, but null would keep them.
 */
export function correctedUsage(text: string | undefined, usage: TokenUsage, hasIterations = false): string {
  const billed = writeUsage(usage);
  const iterations = hasIterations ? { iterations: [] } : {};
  if (text === undefined || !isObject(JSON.parse(text))) return JSON.stringify({ ...billed, ...iterations });
  return editMembers(text, {
    input_tokens: always(billed.input_tokens),
    output_tokens: always(billed.output_tokens),
    // A client keeps a number of the first event if the last event does not contain it.
    cache_creation_input_tokens: always(billed.cache_creation_input_tokens),
    cache_read_input_tokens: always(billed.cache_read_input_tokens),
    cache_creation: ifPresent(billed.cache_creation),
    output_tokens_details: ifPresent(billed.output_tokens_details),
    iterations: (old) => (hasIterations || (old !== undefined && old !== "null") ? "[]" : old),
    server_tool_use: (old) => correctedUses(old, billed.server_tool_use),
  });
}

/** Returns the billed uses. Returns `old` if no uses are billed and `old` is not an object. */
function correctedUses(old: string | undefined, billed: Record<string, number> | null): string | undefined {
  if (old === undefined || !isObject(JSON.parse(old))) return billed ? JSON.stringify(billed) : old;
  const edits = USE_COUNTS.map(([, name]) => [name, ifPresentOr(billed?.[name] ?? 0)] as const);
  return editMembers(old, Object.fromEntries(edits));
}

function always(count: number): MemberEdit {
  return () => String(count);
}

/** Writes a count. A count of zero is written only if the vendor sent a number there. */
function ifPresentOr(count: number): MemberEdit {
  return (old) => (old === undefined && count === 0 ? undefined : String(count));
}

function ifPresent(value: unknown): MemberEdit {
  return (old) => (old === undefined ? undefined : JSON.stringify(value));
}
