import type { VendorTraits } from "../dialects/dialect.ts";
import type { TextDialectName } from "../dialects/name.ts";
import type { Channel } from "../domain/channel.ts";
import type { ImageOrder, ImageReply } from "../domain/image.ts";
import type { ByteStream } from "../lib/byte-stream.ts";
import type { Cancellation } from "../lib/cancellation.ts";

/** The vendors' adapters by channel. */
export interface Upstreams {
  /** One for each protocol that the channel's vendor speaks, the one to translate into first. */
  text(channel: Channel): readonly TextUpstream[] | undefined;
  image(channel: Channel): ImageUpstream | undefined;
  embedding(channel: Channel): EmbeddingUpstream | undefined;
}

/** A way to send text requests: the provider transports them, a dialect reads and writes them. */
export interface TextUpstream {
  /** The protocol the vendor speaks. */
  dialect: TextDialectName;
  traits?: VendorTraits;
  /** Whether the vendor takes this protocol for an upstream model; for every one where absent. */
  serves?(upstreamModel: string): boolean;
  /**
   * Sends a request in that protocol and resolves once the vendor's status is known.
   * Throws an `UpstreamError` for every response that is not a success.
   */
  send(call: TextCall): Promise<TextResponse>;
  /** Counts the tokens of a request, where the vendor does: the text of its response. Throws as `send` does. */
  countTokens?(call: TextCall): Promise<string>;
}

export interface TextCall {
  /** The request's exact text, with the vendor's model name where the protocol has it in the body. */
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
 * The vendor's response as it came: JSON, or server-sent events as bytes. `parsed` is the JSON's value where the
 * provider had to parse it. A vendor may respond whole although a stream was requested.
 */
export type TextResponse = {
  /** The vendor's own id of the call. */
  requestId?: string;
} & ({ kind: "whole"; text: string; parsed?: unknown } | { kind: "stream"; stream: ByteStream });

export interface ImageUpstream {
  /** Makes the pictures: at least one. Throws an `UpstreamError`. */
  generate(order: ImageOrder, signal: AbortSignal): Promise<ImageReply>;
  /** Whether a call that may have been made already can be made again: it costs nothing. */
  isRepeatable?: true;
}

/** A way to embed texts. Throws an `UpstreamError`. */
export interface EmbeddingUpstream {
  embed(call: EmbeddingCall): Promise<EmbeddingResponse>;
}

export interface EmbeddingCall {
  /** The request's exact text with the vendor's model name, for vendors of OpenAI's protocol. */
  raw: string;
  /** For others: the texts, or null where the caller gave tokens, and the number of dimensions if it named one. */
  texts: readonly string[] | null;
  dimensions: number | null;
  upstreamModel: string;
  signal: Cancellation;
}

/**
 * The vendor's response, with its vectors in short: `restore` puts them back in its text. Or the vectors of another protocol
 * with its count of input tokens.
 */
type EmbeddingResponse = { requestId?: string } & (
  | { kind: "whole"; text: string; parsed: unknown; restore(text: string): string }
  | { kind: "vectors"; vectors: readonly (readonly number[])[]; inputTokens: number | null }
);
