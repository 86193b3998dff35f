import type { TestGateway } from "../support/gateway.ts";

/**
 * Something that grows and must not hold the event loop: what a caller sends, what a vendor answers, or a report of
 * administration. It is run at half of `most` and at `most`, while another caller is served beside it.
 */
export interface LoopCase {
  name: string;
  /** Endpoints (`POST /v1/responses`), providers (`openai`) or pairs of dialects (`chat → native`) that it is about. */
  covers: readonly string[];
  /** The number of items at the largest that the default settings take. */
  most: number;
  /** Makes ready what `count` items need, which is not measured, and returns the work, which is. */
  prepare(world: LoopWorld, count: number): Promise<() => Promise<unknown>>;
}

/** What all cases of a run share. */
export interface LoopWorld {
  /** In a process of its own, over SQLite, with the sandbox and a channel of each dialect. */
  gateway: TestGateway;
  vendor: LoopVendor;
}

/** Answers every call with the bytes that it was told last. */
export interface LoopVendor {
  readonly url: string;
  /** The bytes of each response, its head included, in writes of these pieces. */
  answer: () => Iterable<string | Uint8Array>;
}
