import type { ZodType } from "zod";
import type { EmbeddingUpstream, ImageUpstream, TextUpstream } from "../gateway/upstreams.ts";
import type { FairSemaphore } from "../lib/semaphore.ts";

/**
 * An adapter to one vendor: one file and one line in the registry. A capability it lacks is simply absent.
 */
export interface Provider<Settings> {
  name: string;
  /** The vendor's name for people. */
  title: string;
  /** One sentence for the form of a channel: what the credential is and where it comes from. */
  documentation: string;
  /** Shape of a channel's `settings`, secrets already resolved. Drives validation and the console's form. */
  settings: ZodType<Settings>;
  /** One upstream for each protocol that the vendor speaks, the one to translate into first. */
  text?(settings: Settings): readonly TextUpstream[];
  embedding?(settings: Settings): EmbeddingUpstream;
  /** `codecSlots` bound how many pictures the process decodes or encodes at once. */
  image?(settings: Settings, codecSlots: FairSemaphore): ImageUpstream;
  /**
   * The cheapest call that proves address and credential: a list where the vendor has one, else a call that it refuses
   * for its model. Throws an `UpstreamError`, or the signal's reason.
   */
  probe(settings: Settings, signal: AbortSignal): Promise<void>;
}
