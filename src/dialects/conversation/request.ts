import type { Reasoning } from "./reasoning.ts";
import type { Signature } from "./signature.ts";

/**
 * A request in the neutral form, which is independent of protocols. Each dialect reads its requests into this form and
 * writes requests from it. For content that a dialect cannot express, the dialect throws an error that names the
 * caller's field. A hint that a dialect cannot express is omitted and reported (`hints.ts`).
 */
export interface Conversation {
  isStream: boolean;
  /** Instructions at the start of the conversation, in order. */
  system: readonly TextPart[];
  turns: readonly Turn[];
  tools: readonly Tool[];
  toolChoice: ToolChoice | null;
  /** True when the model may call several tools in one turn. Null for the vendor's default. */
  parallelCalls: boolean | null;
  /** Maximum number of output tokens, including reasoning tokens. Null when the caller set no maximum. */
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
  /** Number of alternatives for each token's log probability. Null when no log probabilities are requested. */
  logprobs: number | null;
  verbosity: string | null;
  /** The caller's id for its own end user; null when the caller sent no id. */
  user: string | null;
  /** Key of requests with the same beginning, which a vendor may cache; null when the caller sent no key. */
  cacheKey: string | null;
  /** Names of the caller's hints that other protocols lack, such as labels and settings of caches. */
  ownHints: readonly string[];
  /** Names of unknown fields, and of fields that are no hints and have no equivalent in other protocols. */
  ownFields: readonly string[];
  /** The caller's names of neutral fields, for error messages. For example, `maxTokens` may be `max_output_tokens`. */
  params: Readonly<Partial<Record<keyof Conversation | Hint, string>>>;
}

/** A setting that influences the vendor's reply or labels the request, but is not content of the request. */
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

/** Called for each hint that requests something and that the target does not get. */
export type LeaveOut = (hint: Hint) => void;

/** Successive messages of the same side. `system` is an instruction in the middle of the conversation. */
export type Turn =
  | { role: "system"; parts: readonly TextPart[] }
  | { role: "user"; parts: readonly UserPart[] }
  | { role: "assistant"; parts: readonly AssistantPart[] };

export type UserPart = TextPart | ImagePart | AudioPart | FilePart | ToolResult;
export type AssistantPart = TextPart | RefusalPart | ReasoningPart | ToolCall;

/** Lets a vendor cache the prompt up to this mark: the value of `cache_control` in the messages protocol. */
export type CacheControl = Readonly<Record<string, unknown>>;

interface Cacheable {
  cacheControl?: CacheControl;
}

export interface TextPart extends Cacheable {
  type: "text";
  text: string;
}

/** A link for the vendor to fetch, or base64 data with its MIME type. */
export type MediaSource = { url: string } | { mediaType: string; data: string };

export interface ImagePart extends Cacheable {
  type: "image";
  source: MediaSource;
  /** Resolution of the picture: `low`, `high`, `auto` or `original`. */
  detail?: string;
}

export interface AudioPart {
  type: "audio";
  /** Format of the audio, such as `wav` or `mp3`. */
  format: string;
  /** The audio as base64. */
  data: string;
}

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
  /** The text of the reasoning; empty when the vendor hides the reasoning. */
  text: string;
  /** The vendor's proof that it wrote the text; null when there is none. */
  signature: Signature | null;
  /** True when the vendor sent only encrypted reasoning, which is in `signature`. */
  isRedacted?: true;
}

export interface ToolCall extends Cacheable {
  type: "tool_call";
  id: string;
  name: string;
  /** Form of `arguments`: JSON text for `function`, any text for `custom`. JSON text is never reformatted. */
  kind: "function" | "custom";
  arguments: string;
  signature?: Signature;
}

export interface Tool extends Cacheable {
  kind: "function" | "custom";
  name: string;
  description: string | null;
  /** JSON Schema of a function's arguments; null for a function without arguments and for a custom tool. */
  parameters: Readonly<Record<string, unknown>> | null;
  strict: boolean | null;
  /** Grammar of a custom tool's input, in the form of the responses protocol. */
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
