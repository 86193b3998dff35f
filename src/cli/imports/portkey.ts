import { z } from "zod";
import { addKey, type SourceBudget } from "./access.ts";
import { decimalOf, type ImportDraft, type SourceTarget } from "./draft.ts";
import { number, type SourceFiles, text } from "./source-files.ts";

/** Providers by Portkey's names of the vendors. */
const PROVIDERS: Readonly<Record<string, string>> = {
  openai: "openai",
  "azure-openai": "azure",
  anthropic: "anthropic",
  google: "gemini",
  "vertex-ai": "vertex",
  bedrock: "bedrock",
  deepseek: "deepseek",
  groq: "groq",
  "mistral-ai": "mistral",
  "x-ai": "xai",
  "together-ai": "together",
  "fireworks-ai": "fireworks",
  openrouter: "openrouter",
  ollama: "ollama",
  dashscope: "dashscope",
  moonshot: "moonshot",
  zhipu: "zhipu",
};

interface Config {
  name?: string | undefined;
  strategy?: { mode?: string | undefined } | null | undefined;
  provider?: string | undefined;
  virtual_key?: string | undefined;
  api_key?: string | undefined;
  custom_host?: string | undefined;
  weight?: number | undefined;
  override_params?: { model?: string | undefined } | null | undefined;
  targets?: Config[] | null | undefined;
}

/** Schema of a config in the form of the header `x-portkey-config`. A target may contain targets. */
const configSchema: z.ZodType<Config> = z.lazy(() =>
  z.looseObject({
    name: text,
    strategy: z.looseObject({ mode: text }).nullish(),
    provider: text,
    virtual_key: text,
    api_key: text,
    custom_host: text,
    weight: number,
    override_params: z.looseObject({ model: text }).nullish(),
    targets: z.array(configSchema).nullish(),
  }),
);
const namedSchema = z.record(z.string(), configSchema);
/** Schema of the response of `GET /virtual-keys`. */
const virtualKeysSchema = z.looseObject({
  data: z.array(z.looseObject({ slug: z.string(), provider_id: text, provider: text })),
});
/** Schema of the response of `GET /api-keys`. */
const apiKeysSchema = z.looseObject({
  data: z.array(
    z.looseObject({
      name: z.string(),
      // Only virtual keys have a slug, so a slug means that the object is not an API key.
      slug: z.undefined().optional(),
      expires_at: text,
      rate_limits: z
        .array(z.looseObject({ type: z.string(), unit: z.string(), value: z.number() }))
        .nullish(),
      usage_limits: z.looseObject({ credit_limit: number, periodic_reset: text, type: text }).nullish(),
    }),
  ),
});

/**
 * Imports Portkey's configs. Each config becomes a model under the name by which callers will use it. If they are
 * given, reads the vendors from the list of virtual keys, and imports the API keys.
 */
export function importPortkey(draft: ImportDraft, files: SourceFiles): void {
  const vendors = new Map<string, string>();
  for (const { slug, provider_id: id, provider } of files.read(virtualKeysSchema).flatMap(({ data }) => data))
    vendors.set(slug, id ?? provider ?? "");
  for (const configs of files.read(namedSchema))
    for (const [name, config] of Object.entries(configs)) importConfig(draft, name, config, vendors);
  for (const { data } of files.read(apiKeysSchema)) importKeys(draft, data);
}

function importConfig(
  draft: ImportDraft,
  name: string,
  config: Config,
  vendors: ReadonlyMap<string, string>,
): void {
  const mode = config.strategy?.mode ?? "single";
  if (!["single", "fallback", "loadbalance"].includes(mode))
    draft.note(
      `config ${name}`,
      `has the strategy ${mode}, which is not carried: its targets are called in order`,
    );
  const targets = leavesOf(config).flatMap((leaf) => targetOf(draft, name, leaf, vendors) ?? []);
  if (targets.length === 0) return;
  draft.model(name, { kind: "chat", strategy: mode === "loadbalance" ? "weighted" : "ordered", targets });
  for (const field of ["cache", "retry", "input_guardrails", "output_guardrails", "request_timeout"])
    if (field in config) draft.note(`config ${name}`, `has ${field}, which is not carried`);
}

/** Returns the innermost targets in order. Each target inherits the settings of the targets that contain it. */
function leavesOf({ targets, ...own }: Config): Config[] {
  if (!targets || targets.length === 0) return [own];
  return targets.flatMap((target) => leavesOf({ ...own, ...target }));
}

function targetOf(
  draft: ImportDraft,
  name: string,
  leaf: Config,
  vendors: ReadonlyMap<string, string>,
): SourceTarget | null {
  const slug = leaf.virtual_key ?? leaf.provider?.replace(/^@/, "") ?? "";
  const vendor = vendors.get(slug) ?? slug;
  const provider = PROVIDERS[vendor] ?? (leaf.custom_host ? "openai" : undefined);
  if (provider === undefined) {
    draft.note(
      `config ${name}`,
      `has a target that is left out: the vendor ${vendor || "that it names"} is not known here`,
    );
    return null;
  }
  const channel = draft.channel(leaf.virtual_key ?? provider, {
    provider,
    baseUrl: leaf.custom_host,
    credential: leaf.api_key,
  });
  return {
    channel,
    upstreamModel: leaf.override_params?.model ?? name,
    weight: leaf.weight ?? 1,
  };
}

const PERIODS: Readonly<Record<string, SourceBudget["period"]>> = { monthly: "month", weekly: "month" };

function importKeys(draft: ImportDraft, keys: z.output<typeof apiKeysSchema>["data"]): void {
  for (const { name, expires_at: expires, rate_limits: rates, usage_limits: usage } of keys) {
    const rateOf = (type: string): number | undefined =>
      rates?.find((rate) => rate.type === type && rate.unit === "rpm")?.value;
    if (usage?.periodic_reset === "weekly")
      draft.note(`key ${name}`, "has a budget of a week, which is one of a month here");
    addKey(draft, {
      name,
      requestsPerMinute: rateOf("requests"),
      tokensPerMinute: rateOf("tokens"),
      expiresAt: expires ? new Date(expires) : undefined,
      budget:
        usage?.credit_limit !== undefined && (usage.type ?? "cost") === "cost"
          ? { amount: decimalOf(usage.credit_limit), period: PERIODS[usage.periodic_reset ?? ""] ?? "total" }
          : undefined,
    });
  }
}
