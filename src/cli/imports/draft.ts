import { MASK } from "../../admin/channels/schema.ts";
import type { ShippedModel } from "../../config/index.ts";
import { formatNanos } from "../../lib/money.ts";

/** An object's fields, as in the document of `config import`. */
type Item = Record<string, unknown>;

/** The sections that importers fill in the document. Each section has its objects by id. */
export type Sections = Record<
  "channels" | "models" | "organizations" | "keys" | "budgets",
  Record<string, Item>
>;

/** A channel as another gateway describes it. */
export interface SourceChannel {
  provider: string;
  baseUrl?: string | undefined;
  /** Absent when the other gateway's files do not contain the credential. */
  credential?: string | undefined;
  region?: string | undefined;
  settings?: Item | undefined;
  maxConcurrent?: number | undefined;
}

export interface SourceTarget {
  channel: string;
  upstreamModel: string;
  /** Weight in the other gateway's own unit. It may be a fraction. */
  weight: number;
}

/** A model as another gateway describes it. */
export interface SourceModel {
  kind: "chat" | "embedding" | "image";
  strategy: "ordered" | "weighted";
  targets: SourceTarget[];
  /** Maximum output in tokens. */
  maxOutputTokens?: number | undefined;
  /** Number of dimensions of a vector. */
  dimensions?: number | undefined;
  /** Prices in US dollars per million tokens, as decimals by category. */
  perMillion?: Record<string, string> | undefined;
}

/** Number of nano-units in a unit of a currency. */
const NANOS = 1_000_000_000;

/** Values that a model gets when neither the other gateway's file nor the catalogue has them. */
const ASSUMED = { max_output_tokens: 16_384, dimensions: 1536 } as const;

/** Maximum weight of a target. */
const MAX_WEIGHT = 1_000_000;

/** The document that an importer makes, and notes about everything that could not be imported. */
export class ImportDraft {
  readonly sections: Sections = { channels: {}, models: {}, organizations: {}, keys: {}, budgets: {} };
  readonly notes: { path: string; message: string }[] = [];
  readonly #shipped: ReadonlyMap<string, ShippedModel>;
  readonly #sources = new Map<string, SourceChannel>();

  constructor(shipped: ReadonlyMap<string, ShippedModel>) {
    this.#shipped = shipped;
  }

  /** Adds a note about an object, such as `key ci`, that cannot be imported exactly. */
  note(path: string, message: string): void {
    this.notes.push({ path, message });
  }

  /** Adds a channel, unless an equal channel was added before. Returns the id of the channel. */
  channel(name: string, source: SourceChannel): string {
    for (const [id, known] of this.#sources) if (Bun.deepEquals(known, source)) return id;
    const id = freeId(idOf(name), this.#sources);
    this.#sources.set(id, source);
    const { provider, baseUrl, credential, region, settings, maxConcurrent } = source;
    if (credential === undefined)
      this.note(`channel ${id}`, `has no known credential: write it in place of ${MASK}`);
    this.sections.channels[id] = defined({
      provider,
      base_url: baseUrl,
      credential: credential ?? MASK,
      region,
      settings,
      max_concurrent: maxConcurrent,
    });
    return id;
  }

  /**
   * Adds a model. Fields that the source lacks come from the catalogue; the rest is assumed, and a note says so. Leaves
   * out an image model that is not in the catalogue, and adds a note.
   */
  model(id: string, source: SourceModel): void {
    const weights = wholeWeights(source.targets.map(({ weight }) => weight));
    const route = {
      strategy: source.strategy,
      targets: source.targets.map(({ channel, upstreamModel }, index) => ({
        channel,
        upstream_model: upstreamModel,
        ...(source.strategy === "weighted" && { weight: weights[index] }),
      })),
    };
    const price = source.perMillion && { per_million: source.perMillion };
    if (this.#shipped.has(id)) this.sections.models[id] = defined({ price, route });
    else {
      const described = this.#describe(id, source);
      if (described)
        this.sections.models[id] = defined({ ...described, price: price ?? described["price"], route });
    }
  }

  /**
   * Returns the entry for a model whose name is not in the catalogue; null when too little is known about the model.
   */
  #describe(id: string, { kind, targets, maxOutputTokens, dimensions }: SourceModel): Item | null {
    const shipped = targets.flatMap((target) => this.#shippedAs(target) ?? [])[0];
    if (shipped) {
      const { upstream_model: _, display_name: __, ...entry } = shipped.entry;
      return entry;
    }
    if (kind === "image") {
      this.note(`model ${id}`, "is left out: its sizes and prices are not known; describe it under `models`");
      return null;
    }
    const [field, known] =
      kind === "chat"
        ? (["max_output_tokens", maxOutputTokens] as const)
        : (["dimensions", dimensions] as const);
    if (known === undefined) this.note(`model ${id}`, `has no known ${field}: ${ASSUMED[field]} is assumed`);
    return { type: kind, [field]: known ?? ASSUMED[field] };
  }

  #shippedAs({ channel, upstreamModel }: SourceTarget): ShippedModel | undefined {
    const provider = this.#sources.get(channel)?.provider;
    const isSame = (target: ShippedModel["targets"][number]): boolean =>
      target.provider === provider && target.upstreamModel === upstreamModel;
    return this.#shipped.values().find(({ targets }) => targets.some(isSame));
  }

  /** Adds a note for each model without a price, because calls of the model will be refused. */
  noteUnpriced(): void {
    for (const [id, { price, prices }] of Object.entries(this.sections.models))
      if (price === undefined && prices === undefined && this.#shipped.get(id)?.entry.price === undefined)
        this.note(`model ${id}`, "has no price: its calls are refused with 402 until `prices set` gives one");
  }
}

/** Returns whole numbers from 1 to `MAX_WEIGHT`, approximately in the proportion of the given weights. */
function wholeWeights(weights: readonly number[]): number[] {
  const scale = weights.every(Number.isInteger) ? 1 : 1000;
  const factor = Math.min(scale, MAX_WEIGHT / Math.max(...weights));
  return weights.map((weight) => Math.max(1, Math.round(weight * factor)));
}

/**
 * Returns an id made from a name: lower-case letters, digits and dashes. The id has at most 60 characters, so that a
 * number can be added.
 */
export function idOf(name: string): string {
  const words = name.toLowerCase().split(/[^a-z0-9]+/);
  const id = words.filter((word) => word !== "").join("-");
  return id === "" ? "imported" : id.slice(0, 60);
}

/** Returns the id if it is free. Otherwise adds the first number with which it is free. */
export function freeId(id: string, taken: { has(id: string): boolean }): string {
  if (!taken.has(id)) return id;
  for (let number = 2; ; number += 1) if (!taken.has(`${id}-${number}`)) return `${id}-${number}`;
}

/** Returns an item without its undefined fields. */
export function defined(item: Item): Item {
  return Object.fromEntries(Object.entries(item).filter(([, value]) => value !== undefined));
}

/** Returns the price of a million tokens, as a decimal. The argument is the price of one token in US dollars. */
export function perMillionOf(perToken: number): string {
  return decimalOf(perToken * 1_000_000);
}

/** Returns an amount as a decimal with at most nine decimals. */
export function decimalOf(amount: number): string {
  return formatNanos(BigInt(Math.round(amount * NANOS)));
}
