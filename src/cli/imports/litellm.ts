import { z } from "zod";
import { defined, perMillionOf, type ImportDraft, type SourceModel, type SourceTarget } from "./draft.ts";
import { importLiteLlmAccess } from "./litellm-access.ts";
import { number, type SourceFiles, text } from "./source-files.ts";

/** Providers by the part of `litellm_params.model` before the slash. */
const PROVIDERS: Readonly<Record<string, string>> = {
  openai: "openai",
  text_completion_openai: "openai",
  azure: "azure",
  anthropic: "anthropic",
  gemini: "gemini",
  vertex_ai: "vertex",
  bedrock: "bedrock",
  deepseek: "deepseek",
  groq: "groq",
  mistral: "mistral",
  xai: "xai",
  together_ai: "together",
  fireworks_ai: "fireworks",
  openrouter: "openrouter",
  ollama: "ollama",
  ollama_chat: "ollama",
  hosted_vllm: "vllm",
  lm_studio: "lmstudio",
  dashscope: "dashscope",
  moonshot: "moonshot",
  minimax: "minimax",
  zai: "zhipu",
  volcengine: "ark",
  replicate: "replicate",
  fal_ai: "fal",
};

/** Providers for model names without a slash, by the beginning of the name. */
const BARE: readonly (readonly [start: RegExp, provider: string])[] = [
  [/^(gpt|o\d|chatgpt|text-embedding|dall-e)/, "openai"],
  [/^claude/, "anthropic"],
  [/^gemini/, "gemini"],
];

const KINDS: Readonly<Record<string, SourceModel["kind"]>> = {
  embedding: "embedding",
  image_generation: "image",
};

const costs = {
  input_cost_per_token: number,
  output_cost_per_token: number,
  cache_read_input_token_cost: number,
  cache_creation_input_token_cost: number,
};
const deploymentSchema = z.looseObject({
  model_name: z.string(),
  litellm_params: z.looseObject({
    model: z.string(),
    api_base: text,
    api_key: text,
    api_version: text,
    aws_region_name: text,
    vertex_location: text,
    weight: number,
    order: number,
    rpm: number,
    max_parallel_requests: number,
    ...costs,
  }),
  model_info: z
    .looseObject({ mode: text, max_output_tokens: number, output_vector_size: number, ...costs })
    .nullish(),
});
const fallbacksSchema = z.array(z.record(z.string(), z.array(z.string()))).nullish();
const fallbackFields = { fallbacks: fallbacksSchema, context_window_fallbacks: fallbacksSchema };

/** Schema of the proxy's `config.yaml` (LiteLLM documentation, page "Config.yaml", October 2026). */
const configurationSchema = z.looseObject({
  model_list: z.array(deploymentSchema),
  litellm_settings: z.looseObject(fallbackFields).nullish(),
  router_settings: z
    .looseObject({
      routing_strategy: text,
      model_group_alias: z.record(z.string(), z.unknown()).nullish(),
      ...fallbackFields,
    })
    .nullish(),
});

type Deployment = z.output<typeof deploymentSchema>;

/** Settings that `importModels` reads. All other settings get a note that they are not imported. */
const SILENT = new Set(["fallbacks", "context_window_fallbacks", "routing_strategy", "model_group_alias"]);

/** Imports LiteLLM's configuration. Also imports the lists of its keys and teams if they are given. */
export function importLiteLlm(draft: ImportDraft, files: SourceFiles, env: NodeJS.Dict<string>): void {
  for (const configuration of files.read(configurationSchema)) importModels(draft, configuration, env);
  importLiteLlmAccess(draft, files);
}

function importModels(
  draft: ImportDraft,
  {
    model_list: deployments,
    litellm_settings: settings,
    router_settings: router,
  }: z.output<typeof configurationSchema>,
  env: NodeJS.Dict<string>,
): void {
  const groups = Map.groupBy(deployments, ({ model_name: name }) => name);
  const models = new Map<string, SourceModel>();
  for (const [name, members] of groups) {
    const model = modelOf(draft, members, env);
    if (model) models.set(name.replace(/^\*$/, "openai/*"), model);
  }
  const strategy = router?.routing_strategy ?? "simple-shuffle";
  if (strategy !== "simple-shuffle")
    draft.note(
      "router_settings.routing_strategy",
      `${strategy} is not carried: requests are shared by weight`,
    );
  addFallbacks(
    draft,
    models,
    [settings, router].flatMap((part) => [part?.fallbacks, part?.context_window_fallbacks]),
  );
  for (const [alias, target] of Object.entries(router?.model_group_alias ?? {})) {
    const model = typeof target === "string" ? models.get(target) : undefined;
    if (model) models.set(alias, model);
    else draft.note(`model_group_alias.${alias}`, "is not carried");
  }
  for (const [id, model] of models) draft.model(id, model);
  for (const name of [...Object.keys(settings ?? {}), ...Object.keys(router ?? {})])
    if (!SILENT.has(name)) draft.note(name, "is not carried");
}

function modelOf(
  draft: ImportDraft,
  members: readonly Deployment[],
  env: NodeJS.Dict<string>,
): SourceModel | null {
  const ordered = members.toSorted(
    (one, other) => (one.litellm_params.order ?? 0) - (other.litellm_params.order ?? 0),
  );
  const targets = ordered.flatMap((member) => targetOf(draft, member, env) ?? []);
  if (targets.length === 0) return null;
  const infos = ordered.map(({ model_info: info }) => info);
  const perMillion = ordered.flatMap(
    ({ model_info: info, litellm_params: own }) => priceOf({ ...info, ...defined(own) }) ?? [],
  );
  return {
    kind: KINDS[infos[0]?.mode ?? ""] ?? "chat",
    strategy:
      targets.length === 1 || ordered.some(({ litellm_params: { order } }) => order) ? "ordered" : "weighted",
    targets,
    maxOutputTokens: infos.find((info) => info?.max_output_tokens)?.max_output_tokens,
    dimensions: infos.find((info) => info?.output_vector_size)?.output_vector_size,
    perMillion: perMillion[0],
  };
}

function targetOf(
  draft: ImportDraft,
  { model_name: name, litellm_params: parameters }: Deployment,
  env: NodeJS.Dict<string>,
): SourceTarget | null {
  const { model, api_base: baseUrl, weight, rpm } = parameters;
  const slash = model.indexOf("/");
  const prefix = model.slice(0, Math.max(slash, 0));
  const provider =
    (slash < 0 ? BARE.find(([start]) => start.test(model))?.[1] : PROVIDERS[prefix]) ??
    (baseUrl ? "openai" : undefined);
  if (provider === undefined) {
    draft.note(`model ${name}`, `has a target that is left out: the vendor of ${model} is not known here`);
    return null;
  }
  const isKnown = slash >= 0 && PROVIDERS[prefix] !== undefined;
  const version = parameters.api_version;
  const channel = draft.channel(provider, {
    provider,
    baseUrl,
    credential: credentialOf(draft, parameters.api_key, env),
    region: parameters.aws_region_name ?? parameters.vertex_location,
    settings: provider === "azure" && version ? { surface: "classic", api_version: version } : undefined,
    maxConcurrent: parameters.max_parallel_requests,
  });
  return {
    channel,
    upstreamModel: isKnown ? model.slice(slash + 1) : model,
    weight: weight || rpm || 1,
  };
}

/** Returns the key; for `os.environ/NAME` the value of that variable, or undefined when the variable is not set. */
function credentialOf(
  draft: ImportDraft,
  key: string | undefined,
  env: NodeJS.Dict<string>,
): string | undefined {
  const variable = /^os\.environ\/(.+)$/.exec(key ?? "")?.[1];
  if (variable === undefined) return key;
  const value = env[variable];
  if (!value) draft.note(variable, "is not set here, so the credential is not known");
  return value || undefined;
}

/**
 * Adds the targets of fallbacks. A weight cannot be 0, so in a weighted route each fallback gets at most a thousandth
 * of the requests.
 */
function addFallbacks(
  draft: ImportDraft,
  models: Map<string, SourceModel>,
  lists: readonly z.output<typeof fallbacksSchema>[],
): void {
  const own = new Map([...models].map(([id, { targets }]) => [id, targets]));
  for (const [name, fallbacks] of lists
    .flatMap((list) => list ?? [])
    .flatMap((entry) => Object.entries(entry))) {
    const model = models.get(name);
    if (!model) continue;
    const added = fallbacks.flatMap((fallback) => own.get(fallback) ?? []);
    const missing = fallbacks.filter((fallback) => !own.has(fallback));
    if (missing.length > 0)
      draft.note(`fallbacks of ${name}`, `lack ${missing.join(", ")}, which are not models here`);
    const fresh = added.filter((target) => !model.targets.some((known) => isSame(known, target)));
    if (model.strategy === "weighted" && fresh.length > 0) {
      model.targets = model.targets.map((target) => ({ ...target, weight: target.weight * 1000 }));
      draft.note(
        `fallbacks of ${name}`,
        "stand behind a shared route: each gets a thousandth of the requests",
      );
    }
    model.targets = [...model.targets, ...fresh.map((target) => Object.assign({}, target, { weight: 1 }))];
  }
}

function isSame(one: SourceTarget, other: SourceTarget): boolean {
  return one.channel === other.channel && one.upstreamModel === other.upstreamModel;
}

function priceOf(cost: { [Field in keyof typeof costs]?: number | undefined }) {
  const { input_cost_per_token: input, output_cost_per_token: output } = cost;
  if (typeof input !== "number" || typeof output !== "number") return undefined;
  const read = cost.cache_read_input_token_cost;
  const write = cost.cache_creation_input_token_cost;
  return {
    input: perMillionOf(input),
    output: perMillionOf(output),
    ...(typeof read === "number" && { cache_read: perMillionOf(read) }),
    ...(typeof write === "number" && { cache_write: perMillionOf(write) }),
  };
}
