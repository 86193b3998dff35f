import type { ZodType } from "zod";
import type { EmbeddingUpstream, ImageUpstream, TextUpstream } from "../gateway/upstreams.ts";
import type { FairSemaphore } from "../lib/semaphore.ts";

/**
 * An adapter to one vendor: a file, a folder or a row of data, and a line in the registry. A missing member is a
 * missing capability.
 */
export interface Provider<Settings> {
  name: string;
  /** The vendor's name in its usual spelling. */
  title: string;
  /** One sentence for the form of a channel: the needed credential and where to get it. */
  documentation: string;
  /** Schema of a channel's `settings` with resolved secrets, for validation and for the console's form. */
  settings: ZodType<Settings>;
  /** Returns one upstream for each protocol that the vendor speaks. The first upstream is preferred for translation. */
  text?(settings: Settings): readonly TextUpstream[];
  embedding?(settings: Settings): EmbeddingUpstream;
  /** Returns the upstream for images. `codecSlots` limits the pictures that the process decodes or encodes at once. */
  image?(settings: Settings, codecSlots: FairSemaphore): ImageUpstream;
  /**
   * Makes a cheap call that proves address and credential: it reads a list or the account's data, counts tokens, or
   * requests something unknown, which the vendor refuses. Throws an `UpstreamError`, or the signal's reason.
   */
  probe(settings: Settings, signal: AbortSignal): Promise<void>;
  /** Returns the names in the vendor's list of models. Throws an `UpstreamError`, or the signal's reason. */
  models?(settings: Settings, signal: AbortSignal): Promise<string[]>;
}
