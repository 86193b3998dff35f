import type { Actor } from "../actor.ts";
import type { PromptRecord, PromptRemoval } from "./schema.ts";

export interface PromptStore {
  add(prompts: readonly PromptRecord[]): Promise<void>;
  /** Reads one and leaves an audit row about that, or null where none is kept. */
  read(id: string, by: Actor): Promise<PromptRecord | null>;
  /** Returns the organization of a request's prompt; null where none is kept. */
  organizationOf(id: string): Promise<string | null>;
  /** Deletes those that are selected, with one audit row unless there are none; returns how many. */
  remove(selected: PromptRemoval, by: Actor): Promise<number>;
  /** Removes those that have expired, a bounded number; returns how many. */
  sweep(now: number): Promise<number>;
}
