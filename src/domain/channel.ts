import type { TargetReasoning } from "./model.ts";

/** A configured connection to a vendor: provider adapter, address and credential. */
export interface Channel {
  id: string;
  /** Name of the provider adapter in the registry. */
  provider: string;
  /** The adapter's own settings (base address, resolved credential, region), validated by its schema. */
  settings: unknown;
  /** Timeouts of calls through this channel, in milliseconds. A missing timeout has the default for text or images. */
  timeouts?: Partial<Timeouts>;
  /**
   * Networks (CIDR notation) that the channel may call in addition to the public internet. Undefined for a channel that
   * the database does not declare; such a channel may call any address.
   */
  networks?: readonly string[];
  /** Maximum number of simultaneous calls from one process; undefined for no maximum. */
  maxConcurrent?: number;
  /** True for a server of the operator, which must not fetch links of callers. */
  isOwnServer?: boolean;
}

export interface Timeouts {
  /** For text, the time until the first byte of a stream. For images, the time until the response. */
  firstByteMs: number;
  /** Maximum time between two bytes of a text stream. */
  idleMs: number;
  /** Maximum time of the whole call. */
  totalMs: number;
}

/** One way to serve a model: a channel, and the vendor's name for the model. */
export interface Target {
  channel: Channel;
  upstreamModel: string;
  /** Relative share of traffic under the `weighted` strategy. */
  weight: number;
  /** The form for requesting reasoning from this target; absent when the vendor and model decide it. */
  reasoning?: TargetReasoning;
  /** The target's context window in tokens, if it differs from the model's. */
  contextWindow?: number;
}

/**
 * The targets that serve a model. `ordered` calls them in the given order. `weighted` first calls a target that is
 * chosen by weight; the other targets are fallbacks.
 */
export interface Route {
  strategy: "ordered" | "weighted";
  targets: Target[];
}

const NAMES = new WeakMap<Target, string>();

/** Returns a target's name, `channel/upstream-model`. The name is cached: a request may need it fifty times. */
export function targetName(target: Target): string {
  let name = NAMES.get(target);
  if (name === undefined) NAMES.set(target, (name = `${target.channel.id}/${target.upstreamModel}`));
  return name;
}
