import type { Reasoning } from "./reasoning.ts";
import type { Signature } from "./signature.ts";

/**
 * A request in a form that is independent of protocols. Each dialect reads its requests into this form and writes
 * requests from it. Content that a dialect cannot express is an error that names the caller's field; a hint that it
 * cannot express is left out and reported (`hints.ts`).
 */
export interface Conversation {
  isStream: boolean;
  /** Instructions that apply from the start, in order. */
  system: readonly TextPart[];
  turns: readonly Turn[];
  tools: readonly Tool[];
  toolChoice: ToolChoice | null;
  /** True when the model may call several tools in one turn; null for the vendor's default. */
  parallelCalls: boolean | null;
  /** Maximum number of output tokens, including hidden ones; null when the caller set none. */
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
  /**
   * Number of alternatives that are requested with each token's log probability; null when no log probabilities are
   * requested.
   */
  logprobs: number | null;
  verbosity: string | null;
  /** The caller's id for its own end user. */
  user: string | null;
  /** Key of requests that probably have the same beginning, which the vendor may have cached. */
  cacheKey: string | null;
  /**
   * Names of the caller's fields that set a hint of no other protocol: labels, cache keys, bounds of the vendor's
   * tools.
   */
  ownHints: readonly string[];
  /** Names of the caller's other fields that exist in no other protocol, including unknown fields. */
  ownFields: readonly string[];
  /** Names of the neutral fields in the caller's protocol, for errors: `maxTokens` may be `max_output_tokens`. */
  params: Readonly<Partial<Record<keyof Conversation | Hint, string>>>;
}

/** A setting that influences the vendor's reply or labels the request but is not a part of its content. */
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

/** Is called for each hint that is not sent to the target. */
export type LeaveOut = (hint: Hint) => void;

/** Everything that one side says without interruption. `system` is an instruction in the middle of the conversation. */
export type Turn =
  | { role: "system"; parts: readonly TextPart[] }
  | { role: "user"; parts: readonly UserPart[] }
  | { role: "assistant"; parts: readonly AssistantPart[] };

export type UserPart = TextPart | ImagePart | AudioPart | FilePart | ToolResult;
export type AssistantPart = TextPart | RefusalPart | ReasoningPart | ToolCall;

/** A mark after which a vendor may cache the prompt, in the form of the messages protocol. */
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
  /** Resolution of the picture: `low`, `high`, `auto` or `original`. */
  detail?: string;
}

export interface AudioPart {
  type: "audio";
  /** Format of the audio, such as `wav` or `mp3`. */
  format: string;
  /** The audio in base64. */
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
  /** The text of the reasoning; empty when the vendor shows none. */
  text: string;
  /** Proof for the vendor that it wrote the text. */
  signature: Signature | null;
  /** True when the vendor sent only encrypted reasoning. `signature` contains it. */
  isRedacted?: true;
}

export interface ToolCall extends Cacheable {
  type: "tool_call";
  id: string;
  name: string;
  /** Form of the arguments. `function`: JSON text, which is sent character for character; `custom`: any text. */
  kind: "function" | "custom";
  arguments: string;
  signature?: Signature;
}

export interface Tool extends Cacheable {
  kind: "function" | "custom";
  name: string;
  description: string | null;
  /** JSON Schema of the function's arguments; null when the function has none. */
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
