import type { TargetReasoning } from "./model.ts";

/** A configured connection to a vendor: adapter, address and credential. */
export interface Channel {
  id: string;
  /** Name of the provider adapter in the registry. */
  provider: string;
  /** The adapter's own settings (base address, resolved credential, region), validated by its schema. */
  settings: unknown;
  /** Timeouts of its calls in milliseconds; without them the defaults of the kind of route apply. */
  timeouts?: Partial<Timeouts>;
  /**
   * Networks (CIDR notation) that the channel may call besides the public internet. Undefined for a channel that the
   * operator declares, which may call any address.
   */
  networks?: readonly string[];
  /** Most calls at once from one process; undefined for no limit. */
  maxConcurrent?: number;
  /** True for a server of the operator's own, which must not fetch links that callers chose. */
  isOwnServer?: boolean;
}

export interface Timeouts {
  /** Text: until the first byte of a stream; not used for complete responses. Images: until the response. */
  firstByteMs: number;
  /** Longest time between two bytes of a response. */
  idleMs: number;
  /** Longest time of the whole call. */
  totalMs: number;
}

/** One of the ways to serve a model: a channel and the vendor's name of the model. */
export interface Target {
  channel: Channel;
  upstreamModel: string;
  /** Share of traffic under the `weighted` strategy. */
  weight: number;
  /** The way to request reasoning from it; absent where its vendor and model tell. */
  reasoning?: TargetReasoning;
  /** The target's context in tokens, where it differs from the model's. */
  contextWindow?: number;
}

/** The targets of a model's requests and the strategy: in order, or by weight with the rest as fallbacks. */
export interface Route {
  strategy: "ordered" | "weighted";
  targets: Target[];
}

const NAMES = new WeakMap<Target, string>();

/**
 * Returns a target's name in health, logs and metrics: `channel/upstream-model`. Cached, because one request may need
 * it fifty times.
 */
export function targetName(target: Target): string {
  let name = NAMES.get(target);
  if (name === undefined) NAMES.set(target, (name = `${target.channel.id}/${target.upstreamModel}`));
  return name;
}
