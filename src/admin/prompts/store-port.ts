import type { Actor } from "../actor.ts";
import type { PromptRecord, PromptRemoval } from "./schema.ts";

export interface PromptStore {
  add(prompts: readonly PromptRecord[]): Promise<void>;
  /** Reads a prompt and writes an audit row about the reading; returns null when none is kept. */
  read(id: string, by: Actor): Promise<PromptRecord | null>;
  /** Returns the organization of a request's prompt; null when none is kept. */
  organizationOf(id: string): Promise<string | null>;
  /** Deletes the selected prompts and writes one audit row if there are any. Returns the number of deleted prompts. */
  remove(selected: PromptRemoval, by: Actor): Promise<number>;
  /** Removes a limited number of expired prompts; returns the number of removed prompts. */
  sweep(now: number): Promise<number>;
}
