import type { Route } from "./channel.ts";
import type { Limits } from "./limits.ts";
import type { ModelSet } from "./model.ts";

/** An organization that pays for requests, with its settings. */
export interface Organization {
  id: string;
  name: string;
  /** ISO 4217 code of the currency. */
  currency: string;
  isDisabled: boolean;
  /** Model ids that the organization may call; `"*"` for all models. */
  models: ModelSet;
  settings: OrganizationSettings;
  /** Limits of the organization that differ from the defaults. */
  limits: Partial<Limits>;
  /** The organization's own routes by model id. Models without a route here use the configured routes. */
  routes: ReadonlyMap<string, Route>;
  /** Ids of the budgets that limit each request of the organization. */
  budgets: readonly string[];
}

export interface OrganizationSettings {
  /** The console's switch 'Force image responses to use URLs': on, off, or not set (`null`). */
  forceImageUrls: boolean | null;
  /** True when images in the native protocol are delivered as links in `fileData.fileUri`. */
  nativeImageUrls: boolean;
  /** Milliseconds until 'Cancel on timeout and use fallback' cancels a call; `null` when this switch is off. */
  fallbackAfterMs: number | null;
  /** Channel that is called after `fallbackAfterMs` if the model has a target there; `null` for the next target. */
  fallbackChannel: string | null;
  /** Hours for which links to pictures are valid, at most the retention of pictures; `null` for the configured time. */
  linkHours: number | null;
  /** The action when a client disconnects: `abort` ends the call to the vendor, `drain` reads its whole response. */
  callerGone: "abort" | "drain";
  /** True when the next target is called after a vendor has refused the content. */
  failOverRefusals: boolean;
  /** True when a request is refused if it contains a field without effect. */
  refuseIgnored: boolean;
  /** Days for which prompts and replies are kept for administrators; `null` when they are not kept. */
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
