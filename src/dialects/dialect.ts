import type { Feature, FeatureUse } from "../domain/feature.ts";
import type { GatewayError } from "../domain/gateway-error.ts";
import type { TextModel } from "../domain/model.ts";
import type { TokenUsage, UsagePolicy } from "../domain/usage.ts";
import type { Conversation, LeaveOut } from "./conversation/request.ts";
import type { Reply, ReplyReader, ReplyWriter } from "./conversation/reply.ts";
import type { TextDialectName } from "./name.ts";

/** The parts of a text request that the gateway reads. Every other field is sent to the vendor unchanged. */
export interface TextRequest {
  model: string;
  isStream: boolean;
  /** Maximum number of output tokens of one choice, if the caller set one. */
  maxTokens: number | null;
  choices: number;
  /** Upper bound of the input tokens: each byte counts as one token, each image as a fixed number. */
  inputCeiling: number;
  /** Estimated number of input tokens, and of the media tokens among them. */
  estimatedInput: number;
  mediaTokens: number;
  /** Features that the request uses and the model's record must allow. */
  features: readonly FeatureUse[];
  /** The field that contains the first link that a vendor would fetch; null when there is none. */
  linkParam: string | null;
  body: Record<string, unknown>;
}

/** A request: its exact text, which is forwarded character for character, and the facts that were read from it. */
export interface TextPayload<Request extends TextRequest = TextRequest> {
  dialect: TextDialectName;
  raw: string;
  parsed: Request;
  /** Headers of the caller, by lower-case name, that are also sent to vendors of the same protocol. */
  headers: Readonly<Record<string, string>>;
}

/** Differences between a vendor and other vendors of the same protocol. */
export interface VendorTraits {
  /**
   * The field of chat completions that sets the maximum of output tokens at this vendor; `max_tokens` when absent.
   * OpenAI's reasoning models refuse `max_tokens`, and compatible vendors know only `max_tokens` (OpenAI reference,
   * chat completions).
   */
  maxTokensField?: "max_tokens" | "max_completion_tokens";
  /** Fields and roles of chat completions that this vendor refuses although OpenAI accepts them. */
  refuses?: readonly (
    | "allowed_tools"
    | "custom_tools"
    | "developer"
    | "json_schema"
    | "max_completion_tokens"
    | "parallel_tool_calls"
    | "seed"
    | "stream_options"
    | "user"
    | "verbosity"
  )[];
  /** The highest temperature that the vendor accepts, if that is below 2. */
  maxTemperature?: number;
  /** The vendor's name for `seed`, if it differs. */
  seedField?: "random_seed";
  takesTopK?: boolean;
  /** True when the vendor's usage contains the cost of the call in US dollars. */
  reportsCost?: boolean;
  /** True when the vendor accepts `cache_control` in content parts. */
  takesCacheControl?: boolean;
  /** True when the vendor accepts `refusal` in earlier answers. */
  takesRefusals?: boolean;
  /** The field of earlier answers in which the vendor expects its reasoning back; absent if it expects none. */
  reasoningField?: "reasoning_content" | "reasoning" | "reasoning_details";
  /** The field that turns reasoning on and off at this vendor instead of `reasoning_effort`. */
  reasoningSwitch?: "thinking" | "enable_thinking";
  /**
   * True when the vendor accepts `reasoning_effort` for every model, even if it also has a field that turns reasoning
   * on and off.
   */
  takesEffort?: boolean;
  /** True when the request must ask the vendor to keep reasoning out of the text (MiniMax's `reasoning_split`). */
  splitsReasoning?: boolean;
  /** True when thinking with a budget requires that a turn with answered calls begins with thinking (messages only). */
  demandsThinking?: boolean;
  /** True when every turn must have a role (native protocol only). Vertex AI requires it, the Gemini API does not. */
  demandsRoles?: boolean;
  /** True when the vendor cannot fetch links in a request. */
  fetchesNoLinks?: boolean;
}

/** Facts about a vendor by which a request for it is written. */
export interface VendorTerms {
  /** The vendor's name for the model. */
  upstreamModel: string;
  traits: VendorTraits;
  /** Maximum of output tokens to send when the caller set none; null when none is needed. */
  coveredTokens: number | null;
  model: Pick<TextModel, "id" | "maxOutputTokens"> & {
    /** The form in which reasoning is requested from this target; absent when it cannot be requested. */
    reasoning?: TextModel["reasoning"];
  };
}

/** A whole reply for the caller, and its billed usage. */
export interface WholeReply {
  text: string;
  usage: TokenUsage;
}

/** A vendor's reply that is not a stream. `parsed` saves parsing the text again. */
export interface VendorReply {
  text: string;
  parsed?: unknown;
}

/** Converts a vendor's stream to the caller's stream, and counts what is delivered. */
export interface TextStream {
  /** True after the caller has got content. From then on, no other upstream can take over. */
  readonly hasContent: boolean;
  /** True after the upstream has sent its end mark. Later bytes are not for the caller. */
  readonly isDone: boolean;
  /**
   * Takes bytes from the upstream and returns bytes for the caller. Throws an `UpstreamError` for an error event, for
   * data that does not follow the vendor's protocol, and for an end mark before any reply.
   */
  push(chunk: Uint8Array): Uint8Array;
  /**
   * Call it at most once, when the upstream has ended without an error; then settle the usage. Returns the caller's
   * ending. Throws an `UpstreamError` when the reply was cut.
   */
  end(): Uint8Array;
  /** The reason why an ended reply counts as failed: it was cut or is empty. Null for a good reply. */
  readonly lack: "cut" | "empty" | null;
  /** The beginning of the content so far, joined, because a secret may be spread over several events. */
  readonly text: string;
  /** Returns the billed usage of the reply so far. */
  usage(): TokenUsage;
  /** Returns a frame with the error, which is sent instead of the normal ending. */
  errorFrame(error: GatewayError): Uint8Array;
}

/** One protocol of text models: reads, forwards and translates its requests, and reads and writes its replies. */
export interface TextDialect<Request extends TextRequest = TextRequest> {
  readonly name: TextDialectName;
  /** A frame that is sent while a stream is silent. Every client skips it. */
  readonly keepAliveFrame: Uint8Array;
  /** Features whose uses vendors of this dialect report in their usage; absent for none. */
  readonly countedFeatures?: readonly Feature[];

  /** Returns the same request with another text. */
  withRaw(payload: TextPayload<Request>, raw: string): TextPayload<Request>;
  /**
   * Returns the request's text for a vendor of this dialect: the caller's text with the vendor's model name and all
   * fields that must be set.
   */
  forVendor(payload: TextPayload<Request>, terms: VendorTerms): string;
  /**
   * Reads a vendor's reply in this dialect. Its text stays as it is, except for names of the vendor and for usage that
   * differs from the billed one.
   */
  readReply(reply: VendorReply, publicModel: string, policy: UsagePolicy): WholeReply;
  /** Returns a stream from a vendor of this dialect to a caller of the same dialect. */
  openStream(payload: TextPayload<Request>, publicModel: string, policy: UsagePolicy): TextStream;

  /** Returns the request in neutral form. Throws an `UpstreamError` that names the field that cannot be translated. */
  readConversation(payload: TextPayload<Request>): Conversation;
  /**
   * Returns the text of a request for a vendor of this dialect. Throws an `UpstreamError` for content that the dialect
   * cannot express, and calls `leaveOut` for each hint that is not sent to the vendor.
   */
  writeConversation(conversation: Conversation, terms: VendorTerms, leaveOut?: LeaveOut): string;
  /** Parses a vendor's whole reply. Throws an `UpstreamError` for text that is not a reply of this dialect. */
  parseReply(reply: VendorReply): Reply;
  /** Reads a vendor's stream, event by event. */
  replyReader(): ReplyReader;
  /** Returns the text of a whole reply for the caller of this request. */
  writeReply(reply: Reply, payload: TextPayload<Request>, usage: TokenUsage): string;
  /** Writes a stream for the caller of this request. */
  replyWriter(payload: TextPayload<Request>): ReplyWriter;
}

/** A request for embeddings in another protocol than OpenAI's. Vendors get the texts in the vendor's own protocol. */
export interface ForeignEmbeddings {
  raw: string;
  texts: readonly string[];
  dimensions: number | null;
  /** The purpose of each text's vector. Only vendors of the native protocol accept purposes. */
  purposes: readonly EmbeddingPurpose[];
  /** Names of the caller's fields that are sent to no vendor. */
  ignored: readonly string[];
  /** Writes the reply with vectors that are already JSON text. */
  write(vectors: readonly string[], inputTokens: number): string;
}

export interface EmbeddingPurpose {
  taskType?: string;
  title?: string;
}
