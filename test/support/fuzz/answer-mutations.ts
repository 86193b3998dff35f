import { isObject } from "../../../src/lib/json.ts";
import type { Answer } from "./answers.ts";
import { mutateBytes, mutateValue } from "./mutations.ts";
import type { Choices } from "./values.ts";

/** `usage` changes only usage reports and line ends, so that the content stays valid. `anything` changes any part. */
export type Extent = "usage" | "anything";

/** Returns a vendor's response with random changes, as arriving chunks of bytes. */
export function mutateAnswer({ isStream, text }: Answer, extent: Extent, choices: Choices): Uint8Array[] {
  const edit = (json: string) => mutateJson(json, extent, choices);
  const edited = isStream ? mutateStream(text, extent, edit, choices) : edit(text);
  let bytes: Uint8Array = Buffer.from(edited);
  if (extent === "anything" && choices.once(6)) bytes = mutateBytes(Buffer.from(bytes), choices);
  if (extent === "anything" && choices.once(8)) bytes = bytes.subarray(0, choices.below(bytes.length + 1));
  return isStream ? inChunks(bytes, choices) : [bytes];
}

function mutateStream(
  text: string,
  extent: Extent,
  edit: (json: string) => string,
  choices: Choices,
): string {
  const frames = text.split("\n\n").filter((frame) => frame !== "");
  const isEvery = choices.once(3);
  const edited = frames.map((frame) => {
    const isChosen = isEvery || choices.once(3) || (extent === "usage" && /usage/i.test(frame));
    return isChosen ? frame.replace(/(?<=^data: ?)\{.*\}$/m, edit) : frame;
  });
  if (extent === "anything" && choices.once(2)) reorder(edited, choices);
  const end = choices.pick(["\n", "\n", "\n", "\r\n", "\r"]);
  return `${edited.join("\n\n")}\n\n`.replaceAll("\n", end);
}

function reorder(frames: string[], choices: Choices): void {
  for (let times = 1 + choices.below(3); times > 0 && frames.length > 0; times -= 1) {
    const [at, to] = [choices.below(frames.length), choices.below(frames.length)];
    const [frame = ""] = frames.splice(at, choices.once(3) ? 0 : 1);
    const moved = frame === "" ? frames[at]! : frame;
    if (!choices.once(4)) frames.splice(to, 0, ...(choices.once(5) ? [moved, moved, moved] : [moved]));
    if (choices.once(10)) frames.splice(to, 0, choices.pick(FRAMES));
  }
}

const FRAMES: readonly string[] = [
  ": comment",
  "data:",
  "data: null",
  "data: []",
  "data: {}",
  "data: [DONE]",
  "event: message_stop\ndata: {}",
  'data: {"error":{"message":"x"}}',
  'data: {"choices":[]}',
  "id: 7",
];

function mutateJson(json: string, extent: Extent, choices: Choices): string {
  let value: unknown = JSON.parse(json);
  if (extent === "usage" || choices.once(2)) mutateUsages(value, choices);
  if (extent === "anything" && isObject(value) && choices.once(2)) value = mutateValue(value, choices);
  return JSON.stringify(value);
}

const USAGES: ReadonlySet<string> = new Set(["usage", "usageMetadata"]);

/** Changes every usage report in the value. */
function mutateUsages(value: unknown, choices: Choices): void {
  if (typeof value !== "object" || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    if (!USAGES.has(name) || !isObject(member)) mutateUsages(member, choices);
    else if (choices.once(12)) Object.assign(value, { [name]: choices.pick(COUNTS) });
    else for (let times = choices.below(4); times > 0; times -= 1) mutateCounts(member, choices);
  }
}

function mutateCounts(usage: Record<string, unknown>, choices: Choices): void {
  const [, places] = PLACES.find(([name]) => name in usage) ?? choices.pick(PLACES);
  const [name, ...inner] = choices.pick(places).split(".");
  let owner = usage;
  let last = name!;
  for (const next of inner) {
    const member = owner[last];
    const details: Record<string, unknown> = isObject(member) ? member : {};
    owner[last] = details;
    owner = details;
    last = next;
  }
  if (choices.once(5)) delete owner[last];
  else owner[last] = last === "iterations" ? iterations(choices) : anyCount(choices);
}

function iterations(choices: Choices): unknown {
  return Array.from({ length: choices.below(3) }, () => ({
    type: choices.pick(["message", "message", "compaction", undefined, 7]),
    input_tokens: anyCount(choices),
    output_tokens: anyCount(choices),
  }));
}

function anyCount(choices: Choices): unknown {
  if (choices.once(3)) return choices.pick(COUNTS);
  return choices.below(choices.pick([3, 60, 600, 5_000, 100_000]));
}

const COUNTS: readonly unknown[] = [
  0,
  -1,
  0.5,
  1e308,
  2 ** 40,
  2 ** 60,
  null,
  "12",
  true,
  [],
  [3],
  {},
  Number.MAX_SAFE_INTEGER,
];

/** Paths of the counts in each protocol's usage report. The first text is a field by which the report is recognized. */
const PLACES: readonly (readonly [string, readonly string[]])[] = [
  [
    "prompt_tokens",
    [
      "prompt_tokens",
      "completion_tokens",
      "total_tokens",
      "prompt_tokens_details.cached_tokens",
      "prompt_tokens_details.cache_write_tokens",
      "prompt_tokens_details.image_tokens",
      "completion_tokens_details.reasoning_tokens",
      "completion_tokens_details.image_tokens",
      "prompt_cache_hit_tokens",
    ],
  ],
  [
    "promptTokenCount",
    [
      "promptTokenCount",
      "candidatesTokenCount",
      "totalTokenCount",
      "thoughtsTokenCount",
      "cachedContentTokenCount",
      "toolUsePromptTokenCount",
    ],
  ],
  [
    "total_tokens",
    [
      "input_tokens",
      "output_tokens",
      "total_tokens",
      "input_tokens_details.cached_tokens",
      "input_tokens_details.cache_write_tokens",
      "output_tokens_details.reasoning_tokens",
    ],
  ],
  [
    "output_tokens",
    [
      "input_tokens",
      "output_tokens",
      "cache_read_input_tokens",
      "cache_creation_input_tokens",
      "cache_creation.ephemeral_5m_input_tokens",
      "cache_creation.ephemeral_1h_input_tokens",
      "output_tokens_details.thinking_tokens",
      "server_tool_use.web_search_requests",
      "iterations",
    ],
  ],
];

/** Returns the bytes in chunks of random sizes. If there are few bytes, these may be single bytes. */
function inChunks(bytes: Uint8Array, choices: Choices): Uint8Array[] {
  const most = choices.pick([bytes.length, 700, 90, bytes.length < 4_000 ? 1 : 300]);
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = at + 1 + choices.below(Math.max(1, most));
    // Each chunk has its own buffer, as from a connection.
    chunks.push(Uint8Array.from(bytes.subarray(at, end)));
    at = end;
  }
  return chunks;
}
