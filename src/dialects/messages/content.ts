import type { FeatureUse } from "../../domain/feature.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";
import { isObject, ownValue } from "../../lib/json.ts";
import type { Finish } from "../conversation/reply.ts";
import type { CacheControl } from "../conversation/request.ts";
import { knownNames, refuseCaseVariants } from "../fields.ts";
import type { InputSize } from "../input-size.ts";
import { requireLink } from "../links.ts";
import type { SizedText } from "../stream-meter.ts";
import { useOf } from "./usage.ts";

/**
 * Throws an `UpstreamError` if the first event of a block lacks a field that clients read without checking. The block's
 * text may be absent, because vendors that relay other vendors may omit an empty text.
 */
export function checkBegun(block: unknown): asserts block is Record<string, unknown> {
  if (!isObject(block)) throw new UpstreamError("broken", "a block that is none");
  if (block["type"] === "tool_use" && !isNamedCall(block))
    throw new UpstreamError("broken", "a call without an id or a name");
}

export function isNamedCall({ id, name }: Record<string, unknown>): boolean {
  return typeof id === "string" && typeof name === "string";
}

/**
 * Adds the size of a content block or of a block's first event. The deltas of the block are added separately. The
 * result of a vendor's own tool counts as one use of a feature.
 */
export function addBlock(sized: SizedText, block: Record<string, unknown>): void {
  const { type, text, thinking, name, input } = block;
  addText(sized, text);
  addText(sized, thinking);
  const use = useOf(block);
  if (use) sized.addUse(use);
  if (typeof type !== "string" || !type.endsWith("tool_use")) return;
  addText(sized, name);
  if (isObject(input) && Object.keys(input).length > 0) sized.add(JSON.stringify(input));
}

export function addDelta(
  sized: SizedText,
  { text, thinking, partial_json: json }: Record<string, unknown>,
): void {
  addText(sized, text);
  addText(sized, thinking);
  addText(sized, json);
}

function addText(sized: SizedText, value: unknown): void {
  if (typeof value === "string") sized.add(value);
}

/** Maximum number of cache marks (`cache_control`) in a request (Anthropic API, "Prompt caching"). */
const MAX_MARKS = 4;

export function cacheOf({ cache_control: cacheControl }: Record<string, unknown>): {
  cacheControl?: CacheControl;
} {
  return isObject(cacheControl) ? { cacheControl } : {};
}

export function writeCache({ cacheControl }: { cacheControl?: CacheControl }): { cache_control?: object } {
  return cacheControl ? { cache_control: cacheControl } : {};
}

/**
 * Removes the cache marks (`cache_control`) above the vendor's maximum. Returns the number of removed marks. `blocks`
 * are all blocks that may have a mark.
 */
export function limitMarks(blocks: Iterable<Record<string, unknown>>): number {
  let marks = 0;
  for (const block of blocks) {
    if (block["cache_control"] === undefined || ++marks <= MAX_MARKS) continue;
    delete block["cache_control"];
  }
  return Math.max(0, marks - MAX_MARKS);
}

/** The neutral finish reason for each stop reason of the protocol (Anthropic API, "Handling stop reasons"). */
const REASONS: Readonly<Record<string, Finish["reason"]>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  pause_turn: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool_calls",
  refusal: "refused",
};

export function readFinish({
  stop_reason: reason,
  stop_sequence: sequence,
}: Record<string, unknown>): Finish {
  const known = typeof reason === "string" ? ownValue(REASONS, reason) : undefined;
  return { reason: known ?? "stop", stopSequence: typeof sequence === "string" ? sequence : null };
}

/** Required fields of a message. They are null in translated replies. */
export const NO_EXTRAS = { container: null, diagnostics: null } as const;

/** Required fields of a tool call. They say that the model itself made the call. */
export const CALL_EXTRAS = { caller: { type: "direct" } } as const;

/** The fields of a message that say why it ended. */
interface Stop {
  stop_reason: string | null;
  stop_sequence: string | null;
  stop_details: { type: "refusal"; category: null; explanation: null } | null;
}

export const NOT_STOPPED: Stop = { stop_reason: null, stop_sequence: null, stop_details: null };

/** Writes the stop reason. Some vendors report a normal end although the reply ends with tool calls. */
export function writeFinish({ reason, stopSequence }: Finish, hasCalls: boolean): Stop {
  const stop = stopSequence === null ? "end_turn" : "stop_sequence";
  const word = reason === "stop" && hasCalls ? "tool_use" : STOPS[reason];
  const details =
    reason === "refused" ? ({ type: "refusal", category: null, explanation: null } as const) : null;
  return { stop_reason: word ?? stop, stop_sequence: stopSequence, stop_details: details };
}

const STOPS: Readonly<Record<Finish["reason"], string | null>> = {
  stop: null,
  length: "max_tokens",
  tool_calls: "tool_use",
  refused: "refusal",
};

const ID = /^msg_[\w-]+$/;

/** Returns the id of a message for callers. Replaces ids that do not have the form of this protocol. */
export function messageId(id: string | null): string {
  return id !== null && ID.test(id) ? id : `msg_${Bun.randomUUIDv7("buffer").toString("hex")}`;
}

/** References in the request to data outside of the request. */
export interface References {
  /** Files in the operator's account at the vendor, with the request's fields that refer to these files. */
  files: readonly FeatureUse[];
  /** Path of the field with the first `https:` link; null when there is no link. */
  linkParam: string | null;
}

const BLOCK_NAMES = knownNames(["type", "text", "source", "content", "file_id", "tool_use_id", "input"]);
const SOURCE_NAMES = knownNames(["type", "url", "data", "media_type", "file_id", "content"]);

/**
 * Reads the sources of all blocks, also in tool results and documents, and adds the size of their media. Throws a
 * `GatewayError` for a link that is not public `https:`, because a vendor inside a private network would fetch it.
 */
export function readReferences(body: Record<string, unknown>, size: InputSize): References {
  const files: FeatureUse[] = [];
  let linkParam: string | null = null;
  for (const [path, block] of locatedBlocks(body)) {
    refuseCaseVariants(block, BLOCK_NAMES, path);
    readMembers(path, block);
    const { source } = block;
    if (!isObject(source)) continue;
    refuseCaseVariants(source, SOURCE_NAMES, `${path}.source`);
    readMembers(`${path}.source`, source);
    countSource(block["type"], source, size);
  }
  return { files, linkParam };

  function readMembers(path: string, object: Record<string, unknown>): void {
    const { file_id: file, url } = object;
    if (typeof file === "string") files.push({ feature: "file_id", param: `${path}.file_id` });
    if (typeof url === "string" && isSource(path) && requireLink(url, `${path}.url`))
      linkParam ??= `${path}.url`;
  }
}

/** True for a path whose `url` vendors fetch. The `url` of a search result is only text. */
function isSource(path: string): boolean {
  return path.endsWith(".source");
}

function countSource(type: unknown, { data, url }: Record<string, unknown>, size: InputSize): void {
  if (typeof data === "string") {
    if (type === "image") size.addImage(data);
    else if (type === "document") size.addMedia(data);
  } else if (typeof url === "string") {
    if (type === "image") size.addImage(url.startsWith("data:") ? url : null);
    else size.addLinkedMedia();
  }
}

/** Maximum depth of nested blocks. A tool result may contain a document that itself consists of blocks. */
const MAX_LEVELS = 4;

type LocatedBlock = [path: string, block: Record<string, unknown>];

function* locatedBlocks({ messages, system }: Record<string, unknown>): Generator<LocatedBlock> {
  yield* blocksOf("system", system, MAX_LEVELS);
  if (!Array.isArray(messages)) return;
  for (let at = 0; at < messages.length; at += 1) {
    const message: unknown = messages[at];
    if (isObject(message)) yield* blocksOf(`messages[${at}].content`, message["content"], MAX_LEVELS);
  }
}

function* blocksOf(path: string, blocks: unknown, levels: number): Generator<LocatedBlock> {
  if (!Array.isArray(blocks) || levels === 0) return;
  for (let index = 0; index < blocks.length; index += 1) {
    const block: unknown = blocks[index];
    if (!isObject(block)) continue;
    const at = `${path}[${index}]`;
    yield [at, block];
    yield* blocksOf(`${at}.content`, block["content"], levels - 1);
    const { source } = block;
    if (isObject(source)) yield* blocksOf(`${at}.source.content`, source["content"], levels - 1);
  }
}
