import type { EmbeddingPurpose } from "../dialects/dialect.ts";
import type { VendorTraits } from "../dialects/dialect.ts";
import type { TextDialectName } from "../dialects/name.ts";
import type { Channel } from "../domain/channel.ts";
import type { ImageOrder, ImageReply } from "../domain/image.ts";
import type { ByteStream } from "../lib/byte-stream.ts";
import type { Cancellation } from "../lib/waiting.ts";

/** The vendors' adapters by channel. */
export interface Upstreams {
  /** Returns one upstream for each protocol of the vendor. The upstream preferred for translation comes first. */
  text(channel: Channel): readonly TextUpstream[] | undefined;
  image(channel: Channel): ImageUpstream | undefined;
  embedding(channel: Channel): EmbeddingUpstream | undefined;
}

/** Sends text requests to a vendor. The provider transports the requests; a dialect reads and writes them. */
export interface TextUpstream {
  /** The protocol that the vendor speaks. */
  dialect: TextDialectName;
  traits?: VendorTraits;
  /** True when the vendor serves this upstream model in this protocol. If absent, the vendor serves every model. */
  serves?(upstreamModel: string): boolean;
  /** Resolves to a whole response, or to a stream once its status is known. Throws an `UpstreamError` on failure. */
  send(call: TextCall): Promise<TextResponse>;
  /** Counts a request's tokens; absent if the vendor cannot. Resolves to the response's text. Throws as `send` does. */
  countTokens?(call: TextCall): Promise<string>;
}

export interface TextCall {
  /** The request's exact text, with the vendor's model name if the protocol has the model in the body. */
  raw: string;
  /** The vendor's name of the model. */
  upstreamModel: string;
  isStream: boolean;
  /** The caller's headers for a vendor of the caller's protocol, by lower-case name. */
  headers: Readonly<Record<string, string>>;
  /** Aborted when the call must end, for example because the client has disconnected. */
  signal: Cancellation;
}

/**
 * The vendor's unchanged response: JSON text, or a stream of server-sent events. `parsed` is the parsed JSON if the
 * provider had to parse the text. A vendor may send a whole response although a stream was requested.
 */
export type TextResponse = {
  /** The vendor's own id of the call. */
  requestId?: string;
} & ({ kind: "whole"; text: string; parsed?: unknown } | { kind: "stream"; stream: ByteStream });

export interface ImageUpstream {
  /** Generates at least one picture. Throws an `UpstreamError`. */
  generate(order: ImageOrder, signal: AbortSignal): Promise<ImageReply>;
  /** True when a call can be repeated even if the vendor may have received it, because calls cost nothing. */
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
   * For other protocols: the texts; null when the caller sent tokens. `dimensions` is null when the caller set none.
   */
  texts: readonly string[] | null;
  dimensions: number | null;
  /** The purpose of each text's vector. Only callers of the native protocol can set it. */
  purposes?: readonly EmbeddingPurpose[];
  upstreamModel: string;
  signal: Cancellation;
}

/**
 * A vendor's response. With `whole`, `text` is its JSON with a placeholder for the numbers of each vector; `restore`
 * puts the numbers back. With `vectors` (other protocols), it is the vectors and the vendor's count of input tokens.
 */
type EmbeddingResponse = { requestId?: string } & (
  | { kind: "whole"; text: string; parsed: unknown; restore(text: string): string }
  | { kind: "vectors"; vectors: readonly (readonly number[])[]; inputTokens: number | null }
);
