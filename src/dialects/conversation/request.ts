import type { Reasoning } from "./reasoning.ts";
import type { Signature } from "./signature.ts";

/**
 * A request in neutral form: each dialect reads its requests into this form and writes them from it. Content that a
 * dialect cannot say is an error that names the caller's field; a hint is left out and reported (`hints.ts`).
 */
export interface Conversation {
  isStream: boolean;
  /** Instructions in force from the start, in order. */
  system: readonly TextPart[];
  turns: readonly Turn[];
  tools: readonly Tool[];
  toolChoice: ToolChoice | null;
  /** True when several tools may be called in one turn; null for the vendor's default. */
  parallelCalls: boolean | null;
  /** Maximum of output tokens, hidden ones included; null where the caller set none. */
  maxTokens: number | null;
  temperature: number | null;
  topP: number | null;
  topK: number | null;
  stop: readonly string[];
  seed: number | null;
  presencePenalty: number | null;
  frequencyPenalty: number | null;
  format: OutputFormat | null;
  reasoning: Reasoning | null;
  /** The number of alternatives beside each token's log probability; null for no log probabilities. */
  logprobs: number | null;
  verbosity: string | null;
  /** The caller's id of its own end user. */
  user: string | null;
  /** Requests with the same key are likely to have a beginning in common, which the vendor may have cached. */
  cacheKey: string | null;
  /** The caller's names of set hints that no other protocol has: labels, cache keys, bounds of the vendor's tools. */
  ownHints: readonly string[];
  /** The caller's names of set fields that no other protocol has and that are no hints, unknown ones among them. */
  ownFields: readonly string[];
  /** The caller's names of the fields above, for errors: `maxTokens` may be `max_output_tokens`. */
  params: Readonly<Partial<Record<keyof Conversation | Hint, string>>>;
}

/** A field that influences the vendor's reply or labels the request, without being a part of its content. */
export type Hint =
  | "temperature"
  | "topP"
  | "topK"
  | "seed"
  | "presencePenalty"
  | "frequencyPenalty"
  | "verbosity"
  | "reasoning"
  | "reasoningVisibility"
  | "parallelCalls"
  | "user"
  | "cacheKey"
  | "strict"
  | "cacheControl"
  | "detail"
  | "fileName";

/** Takes a hint that the target is not told. */
export type LeaveOut = (hint: Hint) => void;

/** An uninterrupted contribution of one side. `system` is an instruction in the middle of the conversation. */
export type Turn =
  | { role: "system"; parts: readonly TextPart[] }
  | { role: "user"; parts: readonly UserPart[] }
  | { role: "assistant"; parts: readonly AssistantPart[] };

export type UserPart = TextPart | ImagePart | AudioPart | FilePart | ToolResult;
export type AssistantPart = TextPart | RefusalPart | ReasoningPart | ToolCall;

/** A mark after which a vendor may cache the prompt, as the messages protocol writes it. */
export type CacheControl = Readonly<Record<string, unknown>>;

interface Cacheable {
  cacheControl?: CacheControl;
}

export interface TextPart extends Cacheable {
  type: "text";
  text: string;
}

/** A link that the vendor fetches, or base64 with its MIME type. */
export type MediaSource = { url: string } | { mediaType: string; data: string };

export interface ImagePart extends Cacheable {
  type: "image";
  source: MediaSource;
  /** `low`, `high`, `auto` or `original`. */
  detail?: string;
}

export interface AudioPart {
  type: "audio";
  /** Such as `wav` or `mp3`. */
  format: string;
  /** Base64. */
  data: string;
}

/** A document. */
export interface FilePart extends Cacheable {
  type: "file";
  source: MediaSource | { text: string };
  name?: string;
}

export interface ToolResult extends Cacheable {
  type: "tool_result";
  callId: string;
  parts: readonly (TextPart | ImagePart | FilePart)[];
  isError: boolean;
}

interface RefusalPart {
  type: "refusal";
  text: string;
}

export interface ReasoningPart {
  type: "reasoning";
  /** Empty where the vendor shows none. */
  text: string;
  /** Proves to the vendor that the text is its own. */
  signature: Signature | null;
  /** True where the vendor gave nothing but encrypted reasoning, which is the signature. */
  isRedacted?: true;
}

export interface ToolCall extends Cacheable {
  type: "tool_call";
  id: string;
  name: string;
  /** `function`: JSON text, passed on character for character; `custom`: any text. */
  kind: "function" | "custom";
  arguments: string;
  signature?: Signature;
}

export interface Tool extends Cacheable {
  kind: "function" | "custom";
  name: string;
  description: string | null;
  /** JSON Schema of a function's arguments; null for none. */
  parameters: Readonly<Record<string, unknown>> | null;
  strict: boolean | null;
  /** Grammar of a custom tool's input, as the responses protocol writes it. */
  format?: unknown;
}

export type ToolChoice =
  | { type: "auto" | "none" | "required" }
  | { type: "tool"; name: string }
  | { type: "allowed"; mode: "auto" | "required"; names: readonly string[] };

export type OutputFormat =
  | { type: "json" }
  | {
      type: "schema";
      name: string | null;
      schema: Readonly<Record<string, unknown>>;
      strict: boolean | null;
      description: string | null;
    };
