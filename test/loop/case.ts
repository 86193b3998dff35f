import type { TestGateway } from "../support/gateway.ts";

/**
 * Something that grows and must not hold the event loop: what a caller sends, what a vendor answers, or a report of
 * administration. It is run at half of `most` and at `most`, while another caller is served beside it.
 */
export interface LoopCase {
  name: string;
  /**
   * Endpoints (`POST /v1/responses`), providers (`openai`), pairs of dialects (`chat → native`), operations and exports of
   * administration (`usage.list`, `export audit`) that it is about.
   */
  covers: readonly string[];
  /** The number of items at the largest that the default settings take. */
  most: number;
  /**
   * Makes ready what `count` items need, which is not measured, and returns the work, which is. The work returns figures
   * where it was not done by the gateway.
   */
  prepare(world: LoopWorld, count: number): Promise<() => Promise<LoopFigures | void>>;
  /** The gateway that does the work, where that is not the one of all. */
  gateway?(world: LoopWorld, count: number): Promise<TestGateway>;
}

export interface LoopFigures {
  /** The longest time for which another caller waited. */
  waitMs: number;
  /** For how long the thread with the event loop ran. */
  workMs: number;
  memoryMb: number;
}

/** What all cases of a run share. */
export interface LoopWorld {
  /** In a process of its own, over SQLite, with the sandbox and a channel of each dialect. */
  gateway: TestGateway;
  vendor: LoopVendor;
  /** What cases have opened, disposed of at the end of the run. */
  opened: AsyncDisposableStack;
}

/** Answers every call with the bytes that it was told last. */
export interface LoopVendor {
  readonly url: string;
  /** The bytes of each response, its head included, in writes of these pieces. */
  answer: () => Iterable<string | Uint8Array>;
}
