import type { Feature, FeatureUse } from "../domain/feature.ts";
import type { GatewayError } from "../domain/gateway-error.ts";
import type { TextModel } from "../domain/model.ts";
import type { TokenUsage, UsagePolicy } from "../domain/usage.ts";
import type { Conversation, LeaveOut } from "./conversation/request.ts";
import type { Reply, ReplyReader, ReplyWriter } from "./conversation/reply.ts";
import type { TextDialectName } from "./name.ts";

/** The parts of a text request that the gateway itself reads; every other field is forwarded unchanged. */
export interface TextRequest {
  model: string;
  isStream: boolean;
  /** Maximum of output tokens of one choice, where the caller set it. */
  maxTokens: number | null;
  choices: number;
  /** Upper bound of the input tokens: no token is shorter than a byte, an image counts a fixed number. */
  inputCeiling: number;
  /** Local estimate of the input tokens, and of the tokens of media among them. */
  estimatedInput: number;
  mediaTokens: number;
  /** Uses of features that the model's record must allow. */
  features: readonly FeatureUse[];
  /** The field of the first link that a vendor would fetch; null where there is none. */
  linkParam: string | null;
  body: Record<string, unknown>;
}

/** A request as it was sent: its exact text, which is forwarded character for character, and its parsed reading. */
export interface TextPayload<Request extends TextRequest = TextRequest> {
  dialect: TextDialectName;
  raw: string;
  parsed: Request;
  /** Headers of the caller, by lower-case name, that vendors of the same protocol receive too. */
  headers: Readonly<Record<string, string>>;
}

/** Differences of a vendor from others of its protocol. */
export interface VendorTraits {
  /**
   * The field of chat completions by which it takes a maximum of output tokens; `max_tokens` where absent. OpenAI's
   * reasoning models refuse `max_tokens`, compatible vendors know only that (OpenAI reference, chat completions).
   */
  maxTokensField?: "max_tokens" | "max_completion_tokens";
  /** Fields and roles of chat completions that it answers with an error where OpenAI would not. */
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
  /** The largest temperature it takes, where that is below 2. */
  maxTemperature?: number;
  /** Its name of `seed`, where it has another. */
  seedField?: "random_seed";
  takesTopK?: boolean;
  /** True when its usage has the cost of the call in US dollars. */
  reportsCost?: boolean;
  /** True when content parts may have `cache_control`. */
  takesCacheControl?: boolean;
  /** True when earlier answers may have `refusal`. */
  takesRefusals?: boolean;
  /** The field of earlier answers in which it wants its reasoning back; absent for none. */
  reasoningField?: "reasoning_content" | "reasoning" | "reasoning_details";
  /** The field that switches reasoning on and off, in place of `reasoning_effort`. */
  reasoningSwitch?: "thinking" | "enable_thinking";
  /** True when it takes `reasoning_effort` for every model, beside its switch where it has one. */
  takesEffort?: boolean;
  /** True when it must be told to keep reasoning out of the text (`reasoning_split` of MiniMax). */
  splitsReasoning?: boolean;
  /** On messages: with a budget of thinking, a turn whose calls are being answered must begin with thinking. */
  demandsThinking?: boolean;
  /** On the native protocol: every turn must have a role, which Vertex AI demands and the Gemini API does not. */
  demandsRoles?: boolean;
  /** True when it cannot fetch links of a request. */
  fetchesNoLinks?: boolean;
}

/** Terms by which a request is written for one vendor. */
export interface VendorTerms {
  /** The vendor's name of the model. */
  upstreamModel: string;
  traits: VendorTraits;
  /** The maximum that the vendor is told in place of a caller who set none, if any. */
  coveredTokens: number | null;
  model: Pick<TextModel, "id" | "maxOutputTokens"> & {
    /** The way to request reasoning from this target; absent for none. */
    reasoning?: TextModel["reasoning"];
  };
}

/** A whole reply for the caller, and its billed usage. */
export interface WholeReply {
  text: string;
  usage: TokenUsage;
}

/** A vendor's reply that is not a stream. `parsed` spares parsing the text again. */
export interface VendorReply {
  text: string;
  parsed?: unknown;
}

/** Turns a vendor's stream into the caller's, and counts what is delivered. */
export interface TextStream {
  /** True once the caller would see content: from then on there is no other upstream. */
  readonly hasContent: boolean;
  /** True once the upstream has sent its end mark; later bytes are not for the caller. */
  readonly isDone: boolean;
  /**
   * Takes upstream bytes and returns those for the caller. Throws an `UpstreamError` on an error event, on what is
   * not the vendor's protocol, and at an end mark before any reply.
   */
  push(chunk: Uint8Array): Uint8Array;
  /**
   * The upstream has ended. Returns the caller's ending; throws an `UpstreamError` when the reply was cut. Called
   * once, before the usage is settled.
   */
  end(): Uint8Array;
  /** The reason why a reply that has ended counts as failed: it was cut or is empty. Null for a good reply. */
  readonly lack: "cut" | "empty" | null;
  /** The beginning of the content so far, joined: a secret may be spread over several events. */
  readonly text: string;
  /** Returns the billed usage of the reply so far. */
  usage(): TokenUsage;
  /** An error inside the stream, in place of its normal ending. */
  errorFrame(error: GatewayError): Uint8Array;
}

/** One wire format: how its requests are read, forwarded and translated, and its replies read and written. */
export interface TextDialect<Request extends TextRequest = TextRequest> {
  readonly name: TextDialectName;
  /** Fills the silence of a stream: every client skips it. */
  readonly keepAliveFrame: Uint8Array;
  /** Features whose uses a vendor of this dialect reports in its usage; none where absent. */
  readonly countedFeatures?: readonly Feature[];

  /** The same request with another text. */
  withRaw(payload: TextPayload<Request>, raw: string): TextPayload<Request>;
  /**
   * The text for a vendor of this dialect: the caller's, with the vendor's model name and the fields that must be set.
   */
  forVendor(payload: TextPayload<Request>, terms: VendorTerms): string;
  /**
   * Reads a vendor's reply of this dialect; its text stays as it is, but for names of the vendor and usage that is
   * billed otherwise.
   */
  readReply(reply: VendorReply, publicModel: string, policy: UsagePolicy): WholeReply;
  /** A stream from a vendor of this dialect to a caller of it. */
  openStream(payload: TextPayload<Request>, publicModel: string, policy: UsagePolicy): TextStream;

  /** The request in neutral form. Throws an `UpstreamError` that names the field which cannot be translated. */
  readConversation(payload: TextPayload<Request>): Conversation;
  /**
   * The text of a request for a vendor of this dialect. Throws an `UpstreamError` for content that it cannot say, and
   * gives `leaveOut` each hint that the vendor is not told.
   */
  writeConversation(conversation: Conversation, terms: VendorTerms, leaveOut?: LeaveOut): string;
  /** Parses a vendor's whole reply. Throws an `UpstreamError` for anything else. */
  parseReply(reply: VendorReply): Reply;
  /** Reads a vendor's stream, event by event. */
  replyReader(): ReplyReader;
  /** The text of a whole reply for the caller of this request. */
  writeReply(reply: Reply, payload: TextPayload<Request>, usage: TokenUsage): string;
  /** Writes a stream for the caller of this request. */
  replyWriter(payload: TextPayload<Request>): ReplyWriter;
}

/** A request for embeddings in another protocol than OpenAI's. Vendors get its texts in their own protocol. */
export interface ForeignEmbeddings {
  raw: string;
  texts: readonly string[];
  dimensions: number | null;
  /** For each text what its vector is for, which only vendors of the native protocol can be told. */
  purposes: readonly EmbeddingPurpose[];
  /** The caller's fields that no vendor is told. */
  ignored: readonly string[];
  /** Writes the reply with vectors that are JSON already. */
  write(vectors: readonly string[], inputTokens: number): string;
}

export interface EmbeddingPurpose {
  taskType?: string;
  title?: string;
}
