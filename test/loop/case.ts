import type { TestGateway } from "../support/gateway.ts";

/**
 * Input that can grow and must not block the event loop: a caller's body, a vendor's response, or a report of
 * administration. The case runs with half of `most` items and with `most`, while another caller is served.
 */
export interface LoopCase {
  name: string;
  /**
   * Covered endpoints (`POST /v1/responses`), providers (`openai`), pairs of dialects (`chat → native`), operations and
   * exports of administration (`usage.list`, `export audit`).
   */
  covers: readonly string[];
  /** Number of items in the larger run. For a body or reply, close to the maximum that the default settings accept. */
  most: number;
  /**
   * Prepares `count` items, unmeasured, and returns the work to measure. If the gateway does not do the work, the work
   * returns figures itself.
   */
  prepare(world: LoopWorld, count: number): Promise<() => Promise<LoopFigures | void>>;
  /** Returns the gateway that does the work. Default: the gateway of `LoopWorld`. */
  gateway?(world: LoopWorld, count: number): Promise<TestGateway>;
}

export interface LoopFigures {
  /** Longest wait of the other caller. */
  waitMs: number;
  /** Running time of the event loop's thread. */
  workMs: number;
  memoryMb: number;
}

/** Servers and resources that all cases of a run share. */
export interface LoopWorld {
  /** A gateway process with SQLite, the sandbox, and a channel of each dialect. */
  gateway: TestGateway;
  vendor: LoopVendor;
  /** Resources that cases have opened. They are disposed of after the run. */
  opened: AsyncDisposableStack;
}

/** A vendor that answers every call with the bytes of `answer`. */
export interface LoopVendor {
  readonly url: string;
  /** Returns the bytes of one response, including its head. Each piece is one write. */
  answer: () => Iterable<string | Uint8Array>;
}
