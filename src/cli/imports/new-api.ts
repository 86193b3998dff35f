import { z } from "zod";
import { addKey } from "./access.ts";
import {
  decimalOf,
  type ImportDraft,
  type SourceChannel,
  type SourceModel,
  type SourceTarget,
} from "./draft.ts";
import { type SourceFiles } from "./source-files.ts";
import { isObject } from "../../lib/json.ts";

/** Providers by the number of the channel type (`constant/channel.go` of new-api and one-api). */
const PROVIDERS: Readonly<Record<number, string>> = {
  1: "openai",
  3: "azure",
  4: "ollama",
  8: "openai",
  14: "anthropic",
  17: "dashscope",
  20: "openrouter",
  24: "gemini",
  25: "moonshot",
  26: "zhipu",
  33: "bedrock",
  35: "minimax",
  41: "vertex",
  42: "mistral",
  43: "deepseek",
  45: "ark",
  48: "xai",
  56: "replicate",
};

/** Providers whose address ends in `/v1` in this gateway but not in new-api. */
const WITH_VERSION: ReadonlySet<string> = new Set([
  "openai",
  "ollama",
  "moonshot",
  "minimax",
  "mistral",
  "xai",
]);

const listOf = <Item extends z.ZodType>(item: Item) =>
  z.union([z.array(item), z.looseObject({ items: z.array(item) }).transform(({ items }) => items)]);
const response = <Data extends z.ZodType>(data: Data) => z.looseObject({ data });

/**
 * Schema of a response of `GET /api/channel/`. `key` is present only if the file comes from the page of a single
 * channel or from an export of the table.
 */
const channelsSchema = response(
  listOf(
    z.looseObject({
      type: z.int(),
      name: z.string(),
      models: z.string(),
      key: z.string().nullish(),
      base_url: z.string().nullish(),
      model_mapping: z.string().nullish(),
      priority: z.number().nullish(),
      weight: z.number().nullish(),
      status: z.int(),
      group: z.string().nullish(),
    }),
  ),
);
/** Schema of a response of `GET /api/option/`. */
const optionsSchema = response(z.array(z.looseObject({ key: z.string(), value: z.string() })));
/** Schema of a response of `GET /api/token/`. */
const tokensSchema = response(
  listOf(
    z.looseObject({
      name: z.string(),
      status: z.int(),
      remain_quota: z.number(),
      unlimited_quota: z.boolean(),
      expired_time: z.number(),
      model_limits_enabled: z.boolean().nullish(),
      model_limits: z.string().nullish(),
    }),
  ),
);

type Channel = z.output<typeof channelsSchema>["data"][number];

const ENABLED = 1;
const NEVER = -1;
/**
 * US dollars per million tokens of a model whose ratio in new-api is 1. `QUOTA_PER_DOLLAR` is the quota for one dollar,
 * unless new-api's options set another quota.
 */
const DOLLARS_OF_RATIO = 2;
const QUOTA_PER_DOLLAR = 500_000;

/** Imports the channels and tokens from responses of new-api, with the prices in its options. */
export function importNewApi(draft: ImportDraft, files: SourceFiles): void {
  const read = <Row>(schema: z.ZodType<{ data: Row[] }>): Row[] =>
    files.read(schema).flatMap(({ data }) => data);
  const options = new Map(read(optionsSchema).map(({ key, value }) => [key, value]));
  importChannels(draft, read(channelsSchema), options);
  const quotaPerDollar = Number(options.get("QuotaPerUnit") ?? QUOTA_PER_DOLLAR);
  for (const token of read(tokensSchema))
    addKey(draft, {
      name: token.name,
      models: token.model_limits_enabled ? wordsOf(token.model_limits ?? "") : undefined,
      isDisabled: token.status !== ENABLED,
      expiresAt: token.expired_time === NEVER ? undefined : new Date(token.expired_time * 1000),
      budget: token.unlimited_quota
        ? undefined
        : { amount: decimalOf(Math.max(0, token.remain_quota) / quotaPerDollar), period: "total" },
    });
}

/**
 * Imports channels. If all channels of a model have the same priority, the channels share the model's requests by
 * weight. Otherwise the channels are called in the order of their priorities.
 */
function importChannels(
  draft: ImportDraft,
  channels: readonly Channel[],
  options: ReadonlyMap<string, string>,
): void {
  const offers = new Map<string, { channel: Channel; target: SourceTarget }[]>();
  for (const channel of channels.toSorted((one, other) => (other.priority ?? 0) - (one.priority ?? 0))) {
    const source = sourceOf(draft, channel);
    if (!source) continue;
    const id = draft.channel(channel.name, source);
    const mapping = recordOf(channel.model_mapping);
    for (const model of wordsOf(channel.models)) {
      const mapped = mapping[model];
      const upstreamModel = typeof mapped === "string" ? mapped : model;
      const target = { channel: id, upstreamModel, weight: channel.weight ?? 1 };
      offers.set(model, [...(offers.get(model) ?? []), { channel, target }]);
    }
    if (channel.group && channel.group !== "default")
      draft.note(
        `channel ${channel.name}`,
        `serves everybody here: the groups ${channel.group} are not carried`,
      );
  }
  const ratios = recordOf(options.get("ModelRatio"));
  const completions = recordOf(options.get("CompletionRatio"));
  const fixed = recordOf(options.get("ModelPrice"));
  for (const [model, all] of offers) {
    const isShared = new Set(all.map(({ channel }) => channel.priority ?? 0)).size === 1 && all.length > 1;
    if (model in fixed)
      draft.note(
        `model ${model}`,
        `costs ${String(fixed[model])} USD a call there: set a price of tokens or of pictures`,
      );
    draft.model(model, {
      kind: kindOf(model),
      strategy: isShared ? "weighted" : "ordered",
      targets: all.map(({ target }) => target),
      perMillion: model in fixed ? undefined : priceOf(ratios[model], completions[model]),
    });
  }
}

function sourceOf(
  draft: ImportDraft,
  { name, type, status, key, base_url: baseUrl }: Channel,
): SourceChannel | null {
  const provider = PROVIDERS[type];
  const reason =
    status !== ENABLED
      ? "is disabled"
      : provider === undefined
        ? `is of type ${type}, which is not known here`
        : null;
  if (reason !== null || provider === undefined) {
    draft.note(`channel ${name}`, `is left out: it ${reason}`);
    return null;
  }
  const keys = (key ?? "").split("\n").filter((line) => line !== "");
  if (keys.length > 1) draft.note(`channel ${name}`, `has ${keys.length} keys: the first one is carried`);
  const address = baseUrl?.endsWith("/") ? baseUrl.slice(0, -1) : baseUrl;
  return {
    provider,
    baseUrl: address
      ? address + (WITH_VERSION.has(provider) && !/\/v\d+$/.test(address) ? "/v1" : "")
      : undefined,
    credential: keys[0],
  };
}

function kindOf(model: string): SourceModel["kind"] {
  if (/embed/i.test(model)) return "embedding";
  return /image|dall-e|seedream|flux/i.test(model) ? "image" : "chat";
}

function priceOf(ratio: unknown, completion: unknown): Record<string, string> | undefined {
  if (typeof ratio !== "number") return undefined;
  const input = ratio * DOLLARS_OF_RATIO;
  return {
    input: decimalOf(input),
    output: decimalOf(input * (typeof completion === "number" ? completion : 1)),
  };
}

function wordsOf(list: string): string[] {
  return list
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
}

/** Returns the JSON object that a text field contains; an empty object for any other text. */
function recordOf(json: string | null | undefined): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(json || "{}");
    return isObject(parsed) ? parsed : {};
  } catch {
    return {};
  }
}
