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
   * Returns one upstream for each protocol that the channel's vendor supports. The one preferred for translation is
   * first.
   */
  text(channel: Channel): readonly TextUpstream[] | undefined;
  image(channel: Channel): ImageUpstream | undefined;
  embedding(channel: Channel): EmbeddingUpstream | undefined;
}

/** Sends text requests to a vendor. The provider transports them; a dialect reads and writes them. */
export interface TextUpstream {
  /** The protocol that the vendor speaks. */
  dialect: TextDialectName;
  traits?: VendorTraits;
  /** True when the vendor serves this upstream model in this protocol. If absent, every model is served. */
  serves?(upstreamModel: string): boolean;
  /**
   * Sends a request in this protocol. Resolves once the vendor's status is known. Throws an `UpstreamError` for every
   * response that is not a success.
   */
  send(call: TextCall): Promise<TextResponse>;
  /**
   * Counts the tokens of a request; absent when the vendor does not offer counting. Resolves to the text of the
   * vendor's response. Throws as `send` does.
   */
  countTokens?(call: TextCall): Promise<string>;
}

export interface TextCall {
  /** The request's exact text, with the vendor's model name if the protocol has that name in the body. */
  raw: string;
  /** The vendor's name of the model. */
  upstreamModel: string;
  isStream: boolean;
  /** The caller's headers that a vendor of the caller's protocol gets, by lower-case name. */
  headers: Readonly<Record<string, string>>;
  /** Aborted when the client disconnects or a timeout passes. */
  signal: Cancellation;
}

/**
 * The vendor's unchanged response: JSON text, or a stream of server-sent events. `parsed` is the value of the JSON if
 * the provider had to parse it. A vendor may send a whole response although a stream was requested.
 */
export type TextResponse = {
  /** The vendor's own id of the call. */
  requestId?: string;
} & ({ kind: "whole"; text: string; parsed?: unknown } | { kind: "stream"; stream: ByteStream });

export interface ImageUpstream {
  /** Generates at least one picture. Throws an `UpstreamError`. */
  generate(order: ImageOrder, signal: AbortSignal): Promise<ImageReply>;
  /** True when a call can be repeated although the vendor may have received it, because calls cost nothing. */
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
   * For other protocols: the texts, or null when the caller sent tokens; and the number of dimensions, or null when the
   * caller set none.
   */
  texts: readonly string[] | null;
  dimensions: number | null;
  /** The purpose of each text's vector. Only callers of the native protocol can set it. */
  purposes?: readonly EmbeddingPurpose[];
  upstreamModel: string;
  signal: Cancellation;
}

/**
 * A vendor's response. `whole`: `text` is its JSON with a placeholder for the numbers of each vector, and `restore`
 * puts the numbers back. `vectors`, for other protocols: the vectors and the vendor's count of input tokens.
 */
type EmbeddingResponse = { requestId?: string } & (
  | { kind: "whole"; text: string; parsed: unknown; restore(text: string): string }
  | { kind: "vectors"; vectors: readonly (readonly number[])[]; inputTokens: number | null }
);
