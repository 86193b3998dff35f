import type { Actor } from "../actor.ts";
import type { PromptRecord } from "./schema.ts";

export interface PromptStore {
  add(prompts: readonly PromptRecord[]): Promise<void>;
  /** Reads one and leaves an audit row about that, or null where none is kept. */
  read(id: string, by: Actor): Promise<PromptRecord | null>;
  /** Returns the organization of a request's prompt; null where none is kept. */
  organizationOf(id: string): Promise<string | null>;
  /** Removes those that have expired, a bounded number; returns how many. */
  sweep(now: number): Promise<number>;
}
