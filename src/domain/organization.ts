import type { Route } from "./channel.ts";
import type { Limits } from "./limits.ts";
import type { ModelSet } from "./model.ts";

/** A paying organization and its own rules. */
export interface Organization {
  id: string;
  name: string;
  /** ISO 4217. */
  currency: string;
  isDisabled: boolean;
  /** Model ids that the organization may call; `"*"` stands for all. */
  models: ModelSet;
  settings: OrganizationSettings;
  /** The limits that differ from the defaults. */
  limits: Partial<Limits>;
  /** The organization's own routes by model id; the configured ones apply to other models. */
  routes: ReadonlyMap<string, Route>;
  /** Budgets that each of its requests is held against. */
  budgets: readonly string[];
}

export interface OrganizationSettings {
  /** 'Force image responses to use URLs': on, off, or not set (`null`). */
  forceImageUrls: boolean | null;
  /** The same for the native protocol: images as `fileData.fileUri`. */
  nativeImageUrls: boolean;
  /** 'Cancel on timeout and use fallback', with its time limit; `null` is off. */
  fallbackAfterMs: number | null;
  /** The channel that is called after such a timeout, where the model has a target there; `null` is the next target. */
  fallbackChannel: string | null;
  /**
   * Hours that a link to a picture is valid, at most as long as pictures are kept; `null` uses the configured time.
   */
  linkHours: number | null;
  /** Aborts the upstream call when the client disconnects, or reads it to its end. */
  callerGone: "abort" | "drain";
  /** True when a content refusal tries the next target. */
  failOverRefusals: boolean;
  /** True when a field that would have no effect is refused. */
  refuseIgnored: boolean;
  /** Days that prompts and replies are kept for administrators to read; `null` keeps none. */
  promptLogDays: number | null;
}

export const DEFAULT_ORGANIZATION_SETTINGS: OrganizationSettings = {
  forceImageUrls: null,
  nativeImageUrls: false,
  fallbackAfterMs: null,
  fallbackChannel: null,
  linkHours: null,
  callerGone: "abort",
  failOverRefusals: false,
  refuseIgnored: false,
  promptLogDays: null,
};
