/** A refusal of a vendor, and the gateway's response to its caller. */
export interface Refusal {
  status: number;
  body: object | string;
  headers?: Record<string, string>;
  /** Status and code of the gateway's response. */
  becomes?: readonly [status: number, code: string];
  /** True when the gateway calls another target. */
  failsOver?: boolean;
}

type Frames = readonly (object | string)[];
type Body = Readonly<Record<string, unknown>>;

/** A vendor's responses to `Say hello.`: the text "Hello there.". A vendor that shows thoughts thinks "A greeting.". */
export interface Persona {
  provider: string;
  /** Path before `/chat/completions`. */
  path: string;
  isKeyless?: true;
  /** The response of `/models`; null when the vendor has no `/models`. By default an empty list in OpenAI's form. */
  models?: object | null;
  whole: object;
  frames: Frames;
  /** The vendor's responses to a request with tools, with a call of `look_up`. */
  tool?: { whole: object; frames: Frames };
  /** The usage, by the ledger's categories. */
  tokens: Readonly<Record<string, number>>;
  thinks?: true;
  unauthorized: object;
  /** Returns the error for a request that this vendor refuses but OpenAI accepts. */
  findFault?(body: Body): Refusal | undefined;
  refusals: Readonly<Record<string, Refusal>>;
  /** An error in the middle of a stream. */
  failure?: object;
  hasNoEndMark?: true;
  lineEnd?: "\n" | "\r\n";
  /** Bytes that precede a complete response. */
  leader?: string;
}

const UNAUTHORIZED = {
  error: { message: "Invalid API key", type: "invalid_request_error", code: "invalid_api_key" },
};
const ACCOUNT = [502, "upstream_auth_failed"] as const;
const LIMITED = [429, "rate_limit_exceeded"] as const;
const TOO_LONG = [400, "context_length_exceeded"] as const;
const REFUSED = [400, "content_policy_violation"] as const;
const OVERLOADED = [503, "overloaded"] as const;
const INVALID = [400, "invalid_parameter"] as const;

const whole = (message: object, usage: unknown, more: object = {}, reason = "stop"): object => ({
  id: "f1e2d3c4",
  object: "chat.completion",
  created: 1_790_000_000,
  model: "vendor-model",
  choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: reason }],
  usage,
  ...more,
});
const chunk = (
  delta: object,
  reason: string | null = null,
  more: object = {},
  inChoice: object = {},
): object => ({
  id: "f1e2d3c4",
  object: "chat.completion.chunk",
  created: 1_790_000_000,
  model: "vendor-model",
  choices: [{ index: 0, delta, finish_reason: reason, ...inChoice }],
  ...more,
});
const counted = (prompt_tokens: number, completion_tokens: number, more: object = {}) => ({
  prompt_tokens,
  completion_tokens,
  total_tokens: prompt_tokens + completion_tokens,
  ...more,
});
const lookUp = { name: "look_up", arguments: '{"id":12345678901234567890}' };

/** Returns an error with FastAPI's list of problems, in Mistral's wrapper. */
const forbidden = (field: string): Refusal => ({
  status: 422,
  body: {
    object: "error",
    message: {
      detail: [{ type: "extra_forbidden", loc: ["body", field], msg: "Extra inputs are not permitted" }],
    },
    type: "invalid_request_error",
    param: null,
    code: null,
  },
});

const deepseekUsage = counted(20, 12, {
  prompt_tokens_details: { cached_tokens: 8 },
  completion_tokens_details: { reasoning_tokens: 5 },
  prompt_cache_hit_tokens: 8,
  prompt_cache_miss_tokens: 12,
});
const kimiUsage = counted(20, 12, { cached_tokens: 8 });
const groqUsage = counted(20, 12, { queue_time: 0.01, prompt_time: 0.002, total_time: 0.02 });
const xaiUsage = {
  prompt_tokens: 20,
  completion_tokens: 7,
  total_tokens: 32,
  prompt_tokens_details: { text_tokens: 20, audio_tokens: 0, image_tokens: 0, cached_tokens: 8 },
  completion_tokens_details: { reasoning_tokens: 5, audio_tokens: 0 },
  num_sources_used: 0,
  cost_in_usd_ticks: 1234,
};
const openrouterUsage = counted(20, 12, {
  cost: 0.00014,
  prompt_tokens_details: { cached_tokens: 8 },
  completion_tokens_details: { reasoning_tokens: 5 },
  cost_details: { upstream_inference_cost: null },
});

export const PERSONAS: Readonly<Record<string, Persona>> = {
  // DeepSeek API: "Thinking Mode", "Rate Limit" (comments and empty lines during a wait), "Error Codes".
  deepseek: {
    provider: "deepseek",
    path: "",
    leader: "\n\n\n",
    thinks: true,
    whole: whole({ content: "Hello there.", reasoning_content: "A greeting." }, deepseekUsage, {
      system_fingerprint: "fp_0123456789_prod",
    }),
    frames: [
      ": keep-alive",
      ": keep-alive",
      chunk({ role: "assistant", content: null, reasoning_content: "" }),
      chunk({ content: null, reasoning_content: "A greeting." }),
      chunk({ content: "Hello ", reasoning_content: null }),
      chunk({ content: "there.", reasoning_content: null }),
      chunk({ content: "", reasoning_content: null }, "stop", { usage: deepseekUsage }),
    ],
    tool: {
      whole: whole(
        {
          content: "",
          reasoning_content: "I must look.",
          tool_calls: [{ index: 0, id: "call_00_a", type: "function", function: lookUp }],
        },
        deepseekUsage,
        {},
        "tool_calls",
      ),
      frames: [
        chunk({ role: "assistant", content: null, reasoning_content: "I must look." }),
        chunk({
          tool_calls: [
            { index: 0, id: "call_00_a", type: "function", function: { ...lookUp, arguments: "" } },
          ],
        }),
        chunk({ tool_calls: [{ index: 0, function: { arguments: lookUp.arguments } }] }),
        chunk({ content: "" }, "tool_calls", { usage: deepseekUsage }),
      ],
    },
    tokens: { input: 12, cacheRead: 8, output: 7, reasoning: 5 },
    unauthorized: {
      error: { message: "Authentication Fails", type: "authentication_error", code: "invalid_request_error" },
    },
    findFault(body) {
      const messages = body["messages"] as Record<string, unknown>[];
      if (messages.some(({ role }) => role === "developer"))
        return { status: 422, body: "Failed to deserialize the JSON body: unknown variant `developer`" };
      const lacksReasoning = messages.some(
        (each) => each["tool_calls"] && typeof each["reasoning_content"] !== "string",
      );
      return lacksReasoning
        ? {
            status: 400,
            body: {
              error: {
                message: "The reasoning_content in the thinking mode must be passed back.",
                type: "invalid_request_error",
                param: null,
                code: "invalid_request_error",
              },
            },
          }
        : undefined;
    },
    refusals: {
      balance: {
        status: 402,
        body: {
          error: {
            message: "Insufficient Balance",
            type: "unknown_error",
            param: null,
            code: "invalid_request_error",
          },
        },
        becomes: ACCOUNT,
      },
      long: {
        status: 400,
        body: {
          error: {
            message:
              "This model's maximum context length is 1048576 tokens. However, you requested 1048600 tokens.",
            type: "invalid_request_error",
            param: null,
            code: "invalid_request_error",
          },
        },
        becomes: TOO_LONG,
      },
    },
    failure: chunk({}, "insufficient_system_resource"),
  },
  // Kimi API, "Error reference". The usage is in the choice (converter of the AI SDK's Moonshot provider).
  moonshot: {
    provider: "moonshot",
    path: "/v1",
    thinks: true,
    whole: whole({ content: "Hello there.", reasoning_content: "A greeting." }, kimiUsage),
    frames: [
      chunk({ role: "assistant", content: "" }),
      chunk({ reasoning_content: "A greeting." }),
      chunk({ content: "Hello " }),
      chunk({ content: "there." }),
      chunk({}, "stop", {}, { usage: kimiUsage }),
    ],
    tokens: { input: 12, cacheRead: 8, output: 12 },
    unauthorized: { error: { message: "Invalid Authentication", type: "invalid_authentication_error" } },
    refusals: {
      quota: {
        status: 429,
        body: {
          error: {
            message: "Your account org-0a1b2c <ak-9f8e7d> is suspended due to insufficient balance",
            type: "exceeded_current_quota_error",
          },
        },
        becomes: ACCOUNT,
      },
      rate: {
        status: 429,
        body: {
          error: {
            message: "Your account reached max request, please try again after 3s",
            type: "rate_limit_reached_error",
          },
        },
        becomes: LIMITED,
      },
      engine: {
        status: 429,
        body: {
          error: {
            message: "The engine is currently overloaded, please try again later",
            type: "engine_overloaded_error",
          },
        },
        becomes: OVERLOADED,
      },
      content: {
        status: 400,
        body: {
          error: {
            message: "The request was rejected because it was considered high risk",
            type: "content_filter",
          },
        },
        becomes: REFUSED,
      },
      long: {
        status: 400,
        body: {
          error: {
            message: "Invalid request: Your request exceeded model token limit: 262144",
            type: "invalid_request_error",
          },
        },
        becomes: TOO_LONG,
      },
    },
  },
  // Groq API, "Reasoning" and "Error codes". The usage of a stream is in `x_groq`.
  groq: {
    provider: "groq",
    path: "/openai/v1",
    thinks: true,
    whole: whole({ content: "Hello there.", reasoning: "A greeting." }, groqUsage, {
      x_groq: { id: "req_1" },
    }),
    frames: [
      chunk({ role: "assistant", content: "" }, null, { x_groq: { id: "req_1" } }),
      chunk({ reasoning: "A greeting." }),
      chunk({ content: "Hello " }),
      chunk({ content: "there." }),
      chunk({}, "stop", { x_groq: { id: "req_1", usage: groqUsage } }),
    ],
    tokens: { input: 20, output: 12 },
    unauthorized: UNAUTHORIZED,
    refusals: {
      rate: {
        status: 429,
        body: {
          error: {
            message:
              "Rate limit reached for model `m` on tokens per minute (TPM): Limit 6000. Please try again in 7.5s.",
            type: "tokens",
            code: "rate_limit_exceeded",
          },
        },
        becomes: LIMITED,
      },
      capacity: {
        status: 498,
        body: { error: { message: "Over capacity", type: "capacity_exceeded" } },
        becomes: OVERLOADED,
      },
      gone: {
        status: 400,
        body: {
          error: {
            message: "The model has been decommissioned",
            type: "invalid_request_error",
            code: "model_decommissioned",
          },
        },
        becomes: ACCOUNT,
      },
    },
    failure: { ...chunk({}), x_groq: { error: { message: "Over capacity", type: "internal_server_error" } } },
  },
  // xAI API reference: reasoning is not in completion tokens; tool calls have no index; errors are flat or nested.
  xai: {
    provider: "xai",
    path: "/v1",
    thinks: true,
    whole: whole({ content: "Hello there.", reasoning_content: "A greeting.", refusal: null }, xaiUsage),
    frames: [
      chunk({ role: "assistant", content: "", reasoning_content: "A greeting." }),
      chunk({ role: "assistant", content: "Hello " }),
      chunk({ role: "assistant", content: "there." }),
      chunk({}, "stop"),
      { ...chunk({}), choices: [], usage: xaiUsage, citations: [] },
    ],
    tool: {
      whole: whole(
        { content: "", tool_calls: [{ id: "call_x", type: "function", function: lookUp }] },
        xaiUsage,
        {},
        "tool_calls",
      ),
      frames: [
        chunk({
          role: "assistant",
          content: "",
          tool_calls: [{ id: "call_x", type: "function", function: lookUp }],
        }),
        chunk({}, "stop"),
        { ...chunk({}), choices: [], usage: xaiUsage },
      ],
    },
    tokens: { input: 12, cacheRead: 8, output: 7, reasoning: 5 },
    unauthorized: {
      code: "Client specified an invalid argument",
      error: "Incorrect API key provided: sk***89.",
    },
    refusals: {
      key: {
        status: 400,
        body: {
          code: "Client specified an invalid argument",
          error: "Incorrect API key provided: sk***89. You can obtain an API key from https://console.x.ai.",
        },
        becomes: ACCOUNT,
        failsOver: true,
      },
      credits: {
        status: 429,
        body: {
          code: "Some resource has been exhausted",
          error:
            "Your team 16f2151a has either used all available credits or reached its monthly spending limit.",
        },
        becomes: ACCOUNT,
        failsOver: true,
      },
      long: {
        status: 400,
        body: {
          code: "Client specified an invalid argument",
          error: "This model's maximum prompt length is 500000 but the request contains 500100 tokens.",
        },
        becomes: TOO_LONG,
      },
    },
    failure: { code: "The service is currently unavailable", error: "The model is at capacity." },
  },
  // OpenRouter API: "Errors" (also in successful responses), "Reasoning tokens", comments during a wait.
  openrouter: {
    provider: "openrouter",
    path: "/api/v1",
    thinks: true,
    whole: whole(
      {
        content: "Hello there.",
        refusal: null,
        reasoning: "A greeting.",
        reasoning_details: [{ type: "reasoning.text", text: "A greeting.", format: "unknown", index: 0 }],
      },
      openrouterUsage,
      { provider: "DeepInfra" },
    ),
    frames: [
      ": OPENROUTER PROCESSING",
      chunk(
        {
          role: "assistant",
          content: "",
          reasoning: "A greeting.",
          reasoning_details: [{ type: "reasoning.text", text: "A greeting.", format: "unknown", index: 0 }],
        },
        null,
        { provider: "DeepInfra" },
      ),
      chunk({ role: "assistant", content: "Hello " }, null, { provider: "DeepInfra" }),
      chunk({ role: "assistant", content: "there." }, null, { provider: "DeepInfra" }),
      chunk(
        { role: "assistant", content: "" },
        "stop",
        { provider: "DeepInfra" },
        { native_finish_reason: "stop" },
      ),
      {
        ...chunk({ role: "assistant", content: "" }, null, { usage: openrouterUsage, provider: "DeepInfra" }),
      },
    ],
    tokens: { input: 12, cacheRead: 8, output: 7, reasoning: 5 },
    unauthorized: { error: { code: 401, message: "User not found." } },
    refusals: {
      late: {
        status: 200,
        body: {
          error: { code: 502, message: "Provider returned error", metadata: { provider_name: "DeepInfra" } },
          user_id: "u",
        },
        becomes: OVERLOADED,
      },
      balance: {
        status: 402,
        body: { error: { code: 402, message: "Insufficient credits. Add more using https://openrouter.ai" } },
        becomes: ACCOUNT,
      },
      flagged: {
        status: 403,
        body: {
          error: {
            code: 403,
            message: "This model requires moderation",
            metadata: { reasons: ["violence"], flagged_input: "…" },
          },
        },
        becomes: REFUSED,
      },
    },
    failure: { ...chunk({ content: "" }, "error"), error: { code: 502, message: "Provider disconnected" } },
  },
  // Mistral API: unknown fields are errors, thoughts are content parts, and there is no option for usage.
  mistral: {
    provider: "mistral",
    path: "/v1",
    thinks: true,
    whole: whole(
      {
        content: [
          { type: "thinking", thinking: [{ type: "text", text: "A greeting." }] },
          { type: "text", text: "Hello there." },
        ],
      },
      counted(20, 12),
    ),
    frames: [
      chunk({ role: "assistant", content: "" }),
      chunk({ content: [{ type: "thinking", thinking: [{ type: "text", text: "A greeting." }] }] }),
      chunk({ content: [{ type: "text", text: "Hello " }] }),
      chunk({ content: "there." }),
      chunk({ content: "" }, "stop", { usage: counted(20, 12) }),
    ],
    tokens: { input: 20, output: 12 },
    unauthorized: { message: "Unauthorized", request_id: "a1" },
    findFault(body) {
      const taken =
        "model messages stream max_tokens temperature top_p stop random_seed tools tool_choice response_format n".split(
          " ",
        );
      const other = Object.keys(body).find((name) => !taken.includes(name));
      return other === undefined ? undefined : forbidden(other);
    },
    refusals: {
      extra: { ...forbidden("top_k"), becomes: INVALID },
      long: {
        status: 400,
        body: {
          object: "error",
          message:
            "Prompt contains 300000 tokens and 0 draft tokens, too large for model with 262144 maximum context length",
          type: "invalid_request_prompt",
          param: null,
          code: "3051",
        },
        becomes: TOO_LONG,
      },
      tier: {
        status: 429,
        body: {
          object: "error",
          message: "Service tier capacity exceeded for this model.",
          type: "service_tier_capacity_exceeded",
          param: null,
          code: "3505",
        },
        becomes: LIMITED,
      },
    },
  },
  // Z.ai and BigModel API, error codes: numeric strings; an empty balance gives 429.
  zhipu: {
    provider: "zhipu",
    models: null,
    path: "/api/paas/v4",
    thinks: true,
    whole: whole(
      { content: "Hello there.", reasoning_content: "A greeting." },
      counted(20, 12, { prompt_tokens_details: { cached_tokens: 8 } }),
      { request_id: "2026" },
    ),
    frames: [
      chunk({ role: "assistant", reasoning_content: "A greeting." }),
      chunk({ role: "assistant", content: "Hello " }),
      chunk({ role: "assistant", content: "there." }),
      chunk({ role: "assistant", content: "" }, "stop", {
        usage: counted(20, 12, { prompt_tokens_details: { cached_tokens: 8 } }),
      }),
    ],
    tokens: { input: 12, cacheRead: 8, output: 12 },
    unauthorized: { error: { code: "1000", message: "Authentication Failed" } },
    refusals: {
      arrears: {
        status: 429,
        body: { error: { code: "1113", message: "Your account is in arrears" } },
        becomes: ACCOUNT,
      },
      busy: {
        status: 429,
        body: { error: { code: "1302", message: "Too many concurrent requests" } },
        becomes: LIMITED,
      },
      sensitive: {
        status: 400,
        body: { error: { code: "1301", message: "Sensitive content" } },
        becomes: REFUSED,
      },
    },
  },
  // Model Studio, "Error codes": a quota per minute has the code `insufficient_quota`, which at OpenAI means an empty
  // account.
  dashscope: {
    provider: "dashscope",
    path: "/compatible-mode/v1",
    thinks: true,
    whole: whole(
      { content: "Hello there.", reasoning_content: "A greeting." },
      counted(20, 12, { prompt_tokens_details: { cached_tokens: 4, cache_creation_input_tokens: 4 } }),
    ),
    frames: [
      chunk({ role: "assistant", content: null, reasoning_content: "" }),
      chunk({ content: null, reasoning_content: "A greeting." }),
      chunk({ content: "Hello ", reasoning_content: null }),
      chunk({ content: "there.", reasoning_content: null }),
      chunk({ content: "", reasoning_content: null }, "stop"),
      {
        ...chunk({}),
        choices: [],
        usage: counted(20, 12, {
          prompt_tokens_details: { cached_tokens: 4, cache_creation_input_tokens: 4 },
        }),
      },
    ],
    tokens: { input: 12, cacheRead: 4, cacheWrite: 4, output: 12 },
    unauthorized: UNAUTHORIZED,
    refusals: {
      quota: {
        status: 429,
        body: {
          error: {
            message: "You exceeded your current quota, please check your plan and billing details.",
            type: "insufficient_quota",
            param: null,
            code: "insufficient_quota",
          },
        },
        becomes: LIMITED,
      },
      arrears: {
        status: 400,
        body: {
          error: {
            message: "Access denied, please make sure your account is in good standing.",
            type: "Arrearage",
            param: null,
            code: "Arrearage",
          },
        },
        becomes: ACCOUNT,
      },
      content: {
        status: 400,
        body: {
          error: {
            message: "Input data may contain inappropriate content.",
            type: "data_inspection_failed",
            param: null,
            code: "data_inspection_failed",
          },
        },
        becomes: REFUSED,
      },
      long: {
        status: 400,
        body: {
          error: {
            message: "Range of input length should be [1, 129024]",
            type: "invalid_request_error",
            param: null,
            code: "invalid_parameter_error",
          },
        },
        becomes: TOO_LONG,
      },
    },
  },
  // MiniMax API: thoughts are between tags in the text, unless the request separates thoughts from the text.
  minimax: {
    provider: "minimax",
    path: "/v1",
    whole: whole({ content: "<think>\nA greeting.\n</think>\n\nHello there." }, counted(20, 12)),
    frames: [
      chunk({ role: "assistant", content: "<thi" }),
      chunk({ content: "nk>\nA greeting.\n</thi" }),
      chunk({ content: "nk>\n\nHello " }),
      chunk({ content: "there." }, "stop"),
      { ...chunk({}), choices: [], usage: counted(20, 12) },
    ],
    tokens: { input: 20, output: 12 },
    unauthorized: { error: { message: "login fail", type: "authorized_error" } },
    refusals: {},
  },
  // Together API: the list of models is an array, and each response contains the prompt.
  together: {
    provider: "together",
    path: "/v1",
    models: [{ id: "vendor-model", object: "model", created: 1_790_000_000, type: "chat" }],
    whole: whole({ content: "Hello there.", tool_calls: [] }, counted(20, 12), { prompt: [] }),
    frames: [
      chunk({ role: "assistant", content: "Hello " }),
      chunk({ content: "there." }),
      chunk({ content: "" }, "stop", { usage: counted(20, 12) }),
    ],
    tokens: { input: 20, output: 12 },
    unauthorized: UNAUTHORIZED,
    refusals: {},
  },
  // vLLM's protocol.py: errors are nested and have a number as code; the field is `reasoning`.
  vllm: {
    provider: "vllm",
    path: "/v1",
    isKeyless: true,
    thinks: true,
    whole: whole(
      { content: "Hello there.", reasoning: "A greeting.", refusal: null },
      counted(20, 12, { prompt_tokens_details: null }),
      { prompt_logprobs: null },
    ),
    frames: [
      chunk({ role: "assistant", content: "" }),
      chunk({ reasoning: "A greeting." }),
      chunk({ content: "Hello " }),
      chunk({ content: "there." }),
      chunk({ content: "" }, "stop", {}, { stop_reason: null, token_ids: null }),
      { ...chunk({}), choices: [], usage: counted(20, 12) },
    ],
    tokens: { input: 20, output: 12 },
    unauthorized: UNAUTHORIZED,
    refusals: {
      long: {
        status: 400,
        body: {
          error: {
            message: "This model's maximum context length is 8192 tokens.",
            type: "BadRequestError",
            param: "input_tokens",
            code: 400,
          },
        },
        becomes: TOO_LONG,
      },
      invalid: {
        status: 422,
        body: { detail: [{ type: "missing", loc: ["body", "messages"], msg: "Field required" }] },
        becomes: INVALID,
      },
    },
  },
  // SGLang's protocol.py: errors are flat; reasoning tokens are at the top level of the usage.
  sglang: {
    provider: "sglang",
    path: "/v1",
    isKeyless: true,
    thinks: true,
    whole: whole(
      { content: "Hello there.", reasoning_content: "A greeting." },
      counted(20, 12, { reasoning_tokens: 5, prompt_tokens_details: null }),
      { metadata: { weight_version: "default" } },
    ),
    frames: [
      chunk({ role: "assistant", content: "" }),
      chunk({ reasoning_content: "A greeting." }),
      chunk({ content: "Hello there." }),
      chunk({}, "stop", {}, { matched_stop: 2 }),
      { ...chunk({}), choices: [], usage: counted(20, 12, { reasoning_tokens: 5 }) },
    ],
    tokens: { input: 20, output: 7, reasoning: 5 },
    unauthorized: UNAUTHORIZED,
    refusals: {
      long: {
        status: 400,
        body: {
          object: "error",
          message: "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
          type: "BadRequestError",
          param: null,
          code: 400,
        },
        becomes: TOO_LONG,
      },
    },
    failure: chunk({}, "abort"),
  },
  // Ollama's openai.go: every delta contains the role.
  ollama: {
    provider: "ollama",
    path: "/v1",
    isKeyless: true,
    thinks: true,
    whole: whole({ content: "Hello there.", reasoning: "A greeting." }, counted(20, 12), {
      system_fingerprint: "fp_ollama",
    }),
    frames: [
      chunk({ role: "assistant", content: "", reasoning: "A greeting." }, null, {
        system_fingerprint: "fp_ollama",
      }),
      chunk({ role: "assistant", content: "Hello " }, null, { system_fingerprint: "fp_ollama" }),
      chunk({ role: "assistant", content: "there." }, null, { system_fingerprint: "fp_ollama" }),
      chunk({ role: "assistant", content: "" }, "stop", { system_fingerprint: "fp_ollama" }),
      { ...chunk({}), choices: [], usage: counted(20, 12) },
    ],
    tokens: { input: 20, output: 12 },
    unauthorized: UNAUTHORIZED,
    refusals: {},
  },
  // Not a real vendor. It combines the peculiarities of several vendors.
  messy: {
    provider: "openai",
    path: "/v1",
    hasNoEndMark: true,
    lineEnd: "\r\n",
    leader: "\r\n  ",
    whole: whole({ content: "Hello there." }, counted(20, 12), { model: "other-name" }),
    frames: [
      ": hello",
      { choices: [{ index: 0, delta: { content: "Hello " } }] },
      {
        choices: [{ index: 0, delta: { role: "assistant", content: "there." } }],
        model: "other-name",
        usage: null,
      },
      {
        choices: [{ index: 0, delta: {}, finish_reason: "eos", usage: counted(20, 12) }],
        usage: counted(20, 12),
      },
    ],
    tool: {
      whole: whole(
        {
          content: null,
          tool_calls: [{ type: "function", function: { name: "look_up", arguments: { id: 7 } } }],
        },
        counted(20, 12),
      ),
      frames: [
        chunk({
          tool_calls: [{ index: 0, id: "a", type: "function", function: { name: "look_up", arguments: "" } }],
        }),
        chunk({
          tool_calls: [{ index: 0, id: "a", function: { name: "look_up", arguments: lookUp.arguments } }],
        }),
        chunk({
          tool_calls: [
            { index: 0, id: "b", type: "function", function: { name: "look_up", arguments: "{}" } },
          ],
        }),
        chunk({}, "stop", { usage: counted(20, 12) }),
      ],
    },
    tokens: { input: 20, output: 12 },
    unauthorized: { error: "unauthorized" },
    refusals: {
      number: {
        status: 400,
        body: { error: { code: 400, message: "Bad parameter", param: "top_p" } },
        becomes: INVALID,
      },
      list: {
        status: 400,
        body: [
          {
            error: {
              code: 400,
              message: "API key not valid.",
              status: "INVALID_ARGUMENT",
              details: [{ reason: "API_KEY_INVALID" }],
            },
          },
        ],
        becomes: ACCOUNT,
        failsOver: true,
      },
    },
    failure: { error: { code: 503, message: "gone" } },
  },
};
