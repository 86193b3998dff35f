import type { VendorTraits } from "../../dialects/dialect.ts";
import type { UpstreamErrorKind } from "../../domain/upstream-error.ts";

/** The data of a vendor of chat completions: its address and its differences from OpenAI. */
export interface CompatibleVendor {
  /** Name of the vendor's provider. */
  name: string;
  /** The vendor's name in its usual spelling. */
  title: string;
  /** The part of the address before `/chat/completions`. */
  baseUrl: string;
  /** Hosts of this interface in other regions. */
  otherHosts?: readonly string[];
  /** The part of the address before `/v1/messages`; absent when the vendor does not have the messages protocol. */
  messagesBaseUrl?: string;
  /** True when the vendor serves `/embeddings` below `baseUrl`. */
  embeds?: true;
  /** True for the operator's own server, which may need no credential. */
  isOwnServer?: true;
  traits: VendorTraits;
  /** Error kinds of the codes that the vendor uses in another sense than OpenAI. */
  ownCodes?: Readonly<Record<string, UpstreamErrorKind>>;
}

/** Features that only OpenAI documents: tools that accept any text, and lists of allowed tools. */
const OPENAI_TOOLS = ["allowed_tools", "custom_tools"] as const;
/** Features and fields that the strictest vendors refuse, because only OpenAI has them or they were added later. */
const NEWER_FIELDS = [...OPENAI_TOOLS, "developer", "verbosity"] as const;

/**
 * The vendors of chat completions. Most need no code of their own. The addresses are from the API references of autumn
 * 2026. A trait without a source is a precaution: a field that the vendor may refuse is written in another way, or the
 * request is sent to another target.
 */
export const VENDORS = {
  // DeepSeek accepts only the documented roles. It supports JSON objects but no schemas. A turn with tool calls must
  // contain the reasoning before the calls ("Thinking Mode", "JSON Output").
  deepseek: {
    name: "deepseek",
    title: "DeepSeek",
    baseUrl: "https://api.deepseek.com",
    messagesBaseUrl: "https://api.deepseek.com/anthropic",
    traits: {
      refuses: [...NEWER_FIELDS, "json_schema", "max_completion_tokens"],
      reasoningField: "reasoning_content",
      reasoningSwitch: "thinking",
      takesEffort: true,
    },
  },
  // Moonshot refuses a turn that has tool calls but not their reasoning: "Thinking is enabled but reasoning_content is
  // missing" (Kimi API, "Error reference").
  moonshot: {
    name: "moonshot",
    title: "Moonshot AI",
    baseUrl: "https://api.moonshot.ai/v1",
    otherHosts: ["api.moonshot.cn"],
    messagesBaseUrl: "https://api.moonshot.ai/anthropic",
    traits: { refuses: NEWER_FIELDS, maxTemperature: 1, reasoningField: "reasoning_content" },
  },
  // Z.ai, by its API reference. In China, this interface is on the host open.bigmodel.cn.
  zhipu: {
    name: "zhipu",
    title: "Zhipu AI (Z.ai)",
    embeds: true,
    baseUrl: "https://api.z.ai/api/paas/v4",
    otherHosts: ["open.bigmodel.cn"],
    messagesBaseUrl: "https://api.z.ai/api/anthropic",
    traits: {
      refuses: [...NEWER_FIELDS, "json_schema"],
      maxTemperature: 1,
      reasoningField: "reasoning_content",
      reasoningSwitch: "thinking",
    },
  },
  // MiniMax requires complete earlier turns, with their reasoning (MiniMax API, "Compatible OpenAI API").
  minimax: {
    name: "minimax",
    title: "MiniMax",
    baseUrl: "https://api.minimax.io/v1",
    messagesBaseUrl: "https://api.minimax.io/anthropic",
    traits: {
      refuses: NEWER_FIELDS,
      maxTemperature: 1,
      reasoningField: "reasoning_details",
      splitsReasoning: true,
    },
  },
  // Mistral refuses unknown fields, such as `stream_options` and `reasoning_content` (Mistral API, 422).
  mistral: {
    name: "mistral",
    title: "Mistral AI",
    embeds: true,
    baseUrl: "https://api.mistral.ai/v1",
    traits: {
      refuses: [...NEWER_FIELDS, "max_completion_tokens", "stream_options", "user"],
      maxTemperature: 1.5,
      seedField: "random_seed",
    },
  },
  groq: {
    name: "groq",
    title: "Groq",
    baseUrl: "https://api.groq.com/openai/v1",
    traits: { refuses: [...OPENAI_TOOLS, "verbosity"], maxTokensField: "max_completion_tokens" },
  },
  xai: {
    name: "xai",
    title: "xAI",
    baseUrl: "https://api.x.ai/v1",
    traits: {
      refuses: [...OPENAI_TOOLS, "verbosity"],
      reasoningField: "reasoning_content",
      reportsCost: true,
    },
  },
  // Sources: OpenRouter API, "Reasoning tokens" and "Prompt caching".
  openrouter: {
    name: "openrouter",
    title: "OpenRouter",
    embeds: true,
    baseUrl: "https://openrouter.ai/api/v1",
    messagesBaseUrl: "https://openrouter.ai/api",
    traits: {
      refuses: OPENAI_TOOLS,
      takesTopK: true,
      takesCacheControl: true,
      takesEffort: true,
      reasoningField: "reasoning_details",
      reportsCost: true,
    },
  },
  // DashScope uses `insufficient_quota` for its tokens per minute (Model Studio, "Error codes" and "Rate limits").
  dashscope: {
    name: "dashscope",
    title: "Alibaba Cloud Model Studio",
    embeds: true,
    baseUrl: "https://dashscope.aliyuncs.com/compatible-mode/v1",
    otherHosts: ["dashscope-intl.aliyuncs.com", "dashscope-us.aliyuncs.com"],
    messagesBaseUrl: "https://dashscope.aliyuncs.com/apps/anthropic",
    traits: {
      refuses: NEWER_FIELDS,
      takesTopK: true,
      takesCacheControl: true,
      reasoningField: "reasoning_content",
      reasoningSwitch: "enable_thinking",
    },
    ownCodes: { insufficient_quota: "limited" },
  },
  together: {
    name: "together",
    title: "Together AI",
    embeds: true,
    baseUrl: "https://api.together.xyz/v1",
    traits: { refuses: NEWER_FIELDS, takesTopK: true },
  },
  fireworks: {
    name: "fireworks",
    title: "Fireworks AI",
    embeds: true,
    baseUrl: "https://api.fireworks.ai/inference/v1",
    traits: { refuses: NEWER_FIELDS, takesTopK: true, reasoningField: "reasoning_content" },
  },
  // vLLM and SGLang format messages by the model's template, which supports only the roles of the model's training.
  vllm: {
    name: "vllm",
    title: "vLLM",
    embeds: true,
    baseUrl: "http://127.0.0.1:8000/v1",
    isOwnServer: true,
    traits: { refuses: NEWER_FIELDS, takesTopK: true, reasoningField: "reasoning" },
  },
  sglang: {
    name: "sglang",
    title: "SGLang",
    embeds: true,
    baseUrl: "http://127.0.0.1:30000/v1",
    isOwnServer: true,
    traits: { refuses: NEWER_FIELDS, takesTopK: true, reasoningField: "reasoning_content" },
  },
  ollama: {
    name: "ollama",
    title: "Ollama",
    embeds: true,
    baseUrl: "http://127.0.0.1:11434/v1",
    isOwnServer: true,
    traits: { refuses: NEWER_FIELDS, reasoningField: "reasoning" },
  },
  lmstudio: {
    name: "lmstudio",
    title: "LM Studio",
    embeds: true,
    baseUrl: "http://127.0.0.1:1234/v1",
    isOwnServer: true,
    traits: { refuses: NEWER_FIELDS },
  },
} as const satisfies Readonly<Record<string, CompatibleVendor>>;

/** Returns traits and codes of the vendor at an address. Returns `UNKNOWN` for any other address. */
export function vendorAt(address: string): Pick<CompatibleVendor, "traits" | "ownCodes"> {
  const host = new URL(address).hostname;
  const isAt = ({ isOwnServer, baseUrl, otherHosts = [] }: CompatibleVendor) =>
    !isOwnServer && [new URL(baseUrl).hostname, ...otherHosts].includes(host);
  return Object.values<CompatibleVendor>(VENDORS).find(isAt) ?? UNKNOWN;
}

const UNKNOWN = { traits: { refuses: [...OPENAI_TOOLS, "verbosity"] } } as const;
