import type { EmbeddingPurpose } from "../dialects/dialect.ts";
import type { VendorTraits } from "../dialects/dialect.ts";
import type { TextDialectName } from "../dialects/name.ts";
import type { Channel } from "../domain/channel.ts";
import type { ImageOrder, ImageReply } from "../domain/image.ts";
import type { ByteStream } from "../lib/byte-stream.ts";
import type { Cancellation } from "../lib/waiting.ts";

/** The vendors' adapters by channel. */
export interface Upstreams {
  /**
   * Returns one upstream for each protocol that the channel's vendor supports; the one preferred for translation is
   * first.
   */
  text(channel: Channel): readonly TextUpstream[] | undefined;
  image(channel: Channel): ImageUpstream | undefined;
  embedding(channel: Channel): EmbeddingUpstream | undefined;
}

/** Sends text requests to a vendor: the provider transports them, a dialect reads and writes them. */
export interface TextUpstream {
  /** The protocol the vendor speaks. */
  dialect: TextDialectName;
  traits?: VendorTraits;
  /** True when the vendor serves an upstream model in this protocol; absent when it serves all. */
  serves?(upstreamModel: string): boolean;
  /**
   * Sends a request in that protocol and resolves once the vendor's status is known.
   * Throws an `UpstreamError` for every response that is not a success.
   */
  send(call: TextCall): Promise<TextResponse>;
  /**
   * Counts the tokens of a request if the vendor offers it; resolves to the text of its response. Throws as `send`
   * does.
   */
  countTokens?(call: TextCall): Promise<string>;
}

export interface TextCall {
  /** The request's exact text, with the vendor's model name if the protocol has it in the body. */
  raw: string;
  /** The vendor's name of the model. */
  upstreamModel: string;
  isStream: boolean;
  /** Headers of the caller, by lower-case name, for a vendor of its own protocol. */
  headers: Readonly<Record<string, string>>;
  /** Aborted when the client disconnects or a timeout passes. */
  signal: Cancellation;
}

/**
 * The vendor's response as it came: JSON, or server-sent events as bytes. `parsed` is the JSON's value if the provider
 * had to parse it. A vendor may respond whole although a stream was requested.
 */
export type TextResponse = {
  /** The vendor's own id of the call. */
  requestId?: string;
} & ({ kind: "whole"; text: string; parsed?: unknown } | { kind: "stream"; stream: ByteStream });

export interface ImageUpstream {
  /** Generates at least one picture. Throws an `UpstreamError`. */
  generate(order: ImageOrder, signal: AbortSignal): Promise<ImageReply>;
  /** True when a call can be repeated although the vendor may have received it already, because calls cost nothing. */
  isRepeatable?: true;
}

/** Embeds texts. Throws an `UpstreamError`. */
export interface EmbeddingUpstream {
  /** True when the adapter sends the purposes of vectors to its vendor. */
  takesPurposes?: true;
  embed(call: EmbeddingCall): Promise<EmbeddingResponse>;
}

export interface EmbeddingCall {
  /** The request's exact text with the vendor's model name, for vendors of OpenAI's protocol. */
  raw: string;
  /**
   * For other protocols: the texts, or null when the caller gave tokens, and the number of dimensions if the caller
   * named one.
   */
  texts: readonly string[] | null;
  dimensions: number | null;
  /** The purpose of the vector of each text, if a caller of the native protocol gives one. */
  purposes?: readonly EmbeddingPurpose[];
  upstreamModel: string;
  signal: Cancellation;
}

/**
 * A vendor's response. `whole`: its JSON text with a placeholder for the numbers of each vector; `restore` puts the
 * numbers back into a text. `vectors`, of other protocols: the vectors and the vendor's count of input tokens.
 */
type EmbeddingResponse = { requestId?: string } & (
  | { kind: "whole"; text: string; parsed: unknown; restore(text: string): string }
  | { kind: "vectors"; vectors: readonly (readonly number[])[]; inputTokens: number | null }
);
