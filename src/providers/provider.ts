import type { ZodType } from "zod";
import type { EmbeddingUpstream, ImageUpstream, TextUpstream } from "../gateway/upstreams.ts";
import type { FairSemaphore } from "../lib/semaphore.ts";

/** An adapter to one vendor: one file and one line in the registry. Capabilities that the vendor lacks are absent. */
export interface Provider<Settings> {
  name: string;
  /** The vendor's name for people. */
  title: string;
  /** One sentence for the form of a channel: the credential and its source. */
  documentation: string;
  /** Shape of a channel's `settings` after its secrets are resolved. Validation and the console's form use it. */
  settings: ZodType<Settings>;
  /** Returns one upstream for each protocol that the vendor speaks; the first one is preferred for translation. */
  text?(settings: Settings): readonly TextUpstream[];
  embedding?(settings: Settings): EmbeddingUpstream;
  /** Returns the upstream for images. `codecSlots` bound the pictures that the process decodes or encodes at once. */
  image?(settings: Settings, codecSlots: FairSemaphore): ImageUpstream;
  /**
   * Makes the cheapest call that proves address and credential: it reads a list if the vendor has one, otherwise makes
   * a call that is refused for its unknown model. Throws an `UpstreamError`, or the signal's reason.
   */
  probe(settings: Settings, signal: AbortSignal): Promise<void>;
  /**
   * Returns the vendor's names of the models that it offers to the credential. Throws an `UpstreamError`, or the signal's
   * reason.
   */
  models?(settings: Settings, signal: AbortSignal): Promise<string[]>;
}
