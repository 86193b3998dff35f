import type { Feature, FeatureUse } from "../domain/feature.ts";
import type { GatewayError } from "../domain/gateway-error.ts";
import type { TextModel } from "../domain/model.ts";
import type { TokenUsage, UsagePolicy } from "../domain/usage.ts";
import type { Conversation, LeaveOut } from "./conversation/request.ts";
import type { Reply, ReplyReader, ReplyWriter } from "./conversation/reply.ts";
import type { TextDialectName } from "./name.ts";

/** The parts of a text request that the gateway reads. A vendor of the same dialect gets the whole request. */
export interface TextRequest {
  model: string;
  isStream: boolean;
  /** Maximum number of output tokens of one choice; null when the caller set no maximum. */
  maxTokens: number | null;
  choices: number;
  /**
   * Upper bound of the input tokens. Each byte of text counts as one token. Media and vendor features have bounds of
   * their own.
   */
  inputCeiling: number;
  /** Estimated number of all input tokens. `mediaTokens` is the part of this estimate that is for media. */
  estimatedInput: number;
  mediaTokens: number;
  /** Features that the request uses. The model must allow these features. */
  features: readonly FeatureUse[];
  /** Path of the field with the first link that a vendor would fetch; null when there is no link. */
  linkParam: string | null;
  body: Record<string, unknown>;
}

/** A request: its exact text, and the facts that the gateway read from it. */
export interface TextPayload<Request extends TextRequest = TextRequest> {
  dialect: TextDialectName;
  raw: string;
  parsed: Request;
  /** Headers of the caller for vendors of the same protocol. Names are in lower case. */
  headers: Readonly<Record<string, string>>;
}

/** Differences of a vendor from other vendors of the same protocol. */
export interface VendorTraits {
  /**
   * The field of chat completions for the maximum of output tokens; `max_tokens` by default. OpenAI's reasoning models
   * refuse `max_tokens`, but many compatible vendors support only `max_tokens` (OpenAI reference, chat completions).
   */
  maxTokensField?: "max_tokens" | "max_completion_tokens";
  /** Fields, roles and values of chat completions that OpenAI accepts and this vendor refuses. */
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
  /** The highest temperature that the vendor accepts, if it is below 2. */
  maxTemperature?: number;
  /** The vendor's own name for the field `seed`, if this name differs. */
  seedField?: "random_seed";
  takesTopK?: boolean;
  /** True when the vendor's usage contains the cost of the call in US dollars. */
  reportsCost?: boolean;
  /** True when the vendor accepts `cache_control` in content parts. */
  takesCacheControl?: boolean;
  /** True when the vendor accepts `refusal` in earlier replies. */
  takesRefusals?: boolean;
  /** The field for reasoning in earlier replies. Absent if the vendor does not want its reasoning back. */
  reasoningField?: "reasoning_content" | "reasoning" | "reasoning_details";
  /** The field with which this vendor turns reasoning on and off, instead of `reasoning_effort`. */
  reasoningSwitch?: "thinking" | "enable_thinking";
  /** True when the vendor accepts `reasoning_effort` for every model, even if `reasoningSwitch` is set. */
  takesEffort?: boolean;
  /** True when the vendor separates reasoning from text only if a field requests it (MiniMax's `reasoning_split`). */
  splitsReasoning?: boolean;
  /** True when a turn with answered tool calls must begin with thinking if thinking has a budget (messages only). */
  demandsThinking?: boolean;
  /** True when a vendor of the native protocol requires a role in every turn (Vertex AI). */
  demandsRoles?: boolean;
  /** True when the vendor cannot fetch links in a request. */
  fetchesNoLinks?: boolean;
}

/** The facts about a vendor that are needed to write a request for this vendor. */
export interface VendorTerms {
  /** The vendor's name for the model. */
  upstreamModel: string;
  traits: VendorTraits;
  /** Maximum of output tokens to send when the caller set none; null when no maximum is needed. */
  coveredTokens: number | null;
  model: Pick<TextModel, "id" | "maxOutputTokens"> & {
    /** The form in which this target accepts a request for reasoning. Absent if the target accepts no form. */
    reasoning?: TextModel["reasoning"];
  };
}

/** A whole reply for the caller, with its billed usage. */
export interface WholeReply {
  text: string;
  usage: TokenUsage;
}

/** A vendor's whole reply. `parsed`, if present, is the parsed `text`. */
export interface VendorReply {
  text: string;
  parsed?: unknown;
}

/** Converts a vendor's stream to the caller's stream and measures the delivered content. */
export interface TextStream {
  /** True when the caller has received content. After that no other upstream can continue the request. */
  readonly hasContent: boolean;
  /** True after the upstream's end mark. Later bytes are not for the caller. */
  readonly isDone: boolean;
  /**
   * Converts bytes of the upstream to bytes for the caller. Throws an `UpstreamError` for an error event, for data that
   * breaks the vendor's protocol, and for an end mark without a reply.
   */
  push(chunk: Uint8Array): Uint8Array;
  /**
   * Returns the last bytes of the caller's stream. Call this method at most once, after the upstream has ended without
   * an error. Settle the usage afterwards. Throws an `UpstreamError` when the reply was cut.
   */
  end(): Uint8Array;
  /** The reason why an ended reply counts as failed: it was cut, or it is empty. Null for a good reply. */
  readonly lack: "cut" | "empty" | null;
  /** The beginning of the content so far, as one text, because a secret may be split over several events. */
  readonly text: string;
  /** Returns the billed usage of the reply so far. */
  usage(): TokenUsage;
  /** Returns the frames with the error. These frames replace the normal end of the stream. */
  errorFrame(error: GatewayError): Uint8Array;
}

/** One protocol of text models. Reads, forwards and translates requests. Reads and writes replies. */
export interface TextDialect<Request extends TextRequest = TextRequest> {
  readonly name: TextDialectName;
  /** A frame for silent periods of a stream. Every client skips this frame. */
  readonly keepAliveFrame: Uint8Array;
  /** Features whose number of uses is in the usage of this dialect. Absent when there is no such feature. */
  readonly countedFeatures?: readonly Feature[];

  /** Returns the payload of the request with `raw` as its text. */
  withRaw(payload: TextPayload<Request>, raw: string): TextPayload<Request>;
  /** Returns the request's text for a vendor of this dialect, with the vendor's model name and required fields. */
  forVendor(payload: TextPayload<Request>, terms: VendorTerms): string;
  /** Reads a whole reply. Keeps its text, but removes names of the vendor and corrects usage to the billed usage. */
  readReply(reply: VendorReply, publicModel: string, policy: UsagePolicy): WholeReply;
  /** Returns a stream from a vendor of this dialect to a caller of the same dialect. */
  openStream(payload: TextPayload<Request>, publicModel: string, policy: UsagePolicy): TextStream;

  /** Returns the request in the neutral form. Throws an `UpstreamError` that names a field without a neutral form. */
  readConversation(payload: TextPayload<Request>): Conversation;
  /**
   * Returns the text of a request for a vendor of this dialect. Throws an `UpstreamError` for content that the dialect
   * cannot express. Calls `leaveOut` for each hint that the vendor does not get.
   */
  writeConversation(conversation: Conversation, terms: VendorTerms, leaveOut?: LeaveOut): string;
  /** Parses a vendor's whole reply. Throws an `UpstreamError` for text that is not a reply of this dialect. */
  parseReply(reply: VendorReply): Reply;
  /** Returns a reader for one stream of a vendor. */
  replyReader(): ReplyReader;
  /** Writes a whole reply to this request. */
  writeReply(reply: Reply, payload: TextPayload<Request>, usage: TokenUsage): string;
  /** Returns a writer for the stream that replies to this request. */
  replyWriter(payload: TextPayload<Request>): ReplyWriter;
}

/** A request for embeddings in a protocol other than OpenAI's. */
export interface ForeignEmbeddings {
  raw: string;
  texts: readonly string[];
  dimensions: number | null;
  /** The purpose of each text's vector. Only vendors of the native protocol accept a purpose. */
  purposes: readonly EmbeddingPurpose[];
  /** Names of the caller's fields that no vendor gets. */
  ignored: readonly string[];
  /** Writes the reply. The vectors are already JSON text. */
  write(vectors: readonly string[], inputTokens: number): string;
}

export interface EmbeddingPurpose {
  taskType?: string;
  title?: string;
}
