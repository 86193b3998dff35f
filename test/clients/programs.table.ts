/** A third-party program. The blocks of docs/connect set it up. */
export interface Program {
  name: string;
  /** Name of the client whose blocks the program uses. By default, the program's own name. */
  recipe?: string;
  /** Package names in the registry, with versions. Programs with equal packages share an installation. */
  npm?: readonly string[];
  pip?: readonly string[];
  /** Command that runs the program on `$PROMPT` without interaction. A library has a `loop` instead. */
  command?: string;
  /** File in `loops/` that is appended to a library's code block of the documents. */
  loop?: string;
  /** True when the program sends pictures to the model. */
  seesPictures?: true;
  /** True when the program uses only the first tool call of a reply. */
  takesOneCall?: true;
  /**
   * Ends that differ from the `Scenario`'s rule, by the scenario's name. No response of the gateway could change these
   * ends.
   */
  ends?: Readonly<Record<string, Ending>>;
}

/** The end of a program in a scenario: a message after at most this number of requests of its main loop. */
export interface Ending {
  requests: number;
  /** Message that replaces the scenario's message. */
  message?: RegExp;
  /** The reason for this end, with the place in the program's source. */
  why: string;
}

/** The second request fails, and the program sends no third request. */
const neverRepeats = (why: string): Program["ends"] => {
  const once = { requests: 2, why };
  return { "429": once, "529": once, cut: once };
};
/** The program repeats failed requests, but not a stream that has begun. */
const endsWithStream: Program["ends"] = {
  cut: { requests: 2, why: "an error in a stream is thrown to the program (its client's reader of streams)" },
};
/** Returns the ends of a program that sends this many requests although the error is final. */
const repeats = (
  requests: number,
  why: string,
  scenarios: readonly string[] = ["dead account", "spent budget"],
): Program["ends"] => Object.fromEntries(scenarios.map((name) => [name, { requests, why }]));

const AI_SDK_ENDS: Program["ends"] = {
  ...repeats(
    3,
    "repeats every 429 and 5xx twice: @ai-sdk/openai leaves `isRetryable` to the status (provider, api-call-error.ts)",
  ),
  cut: { requests: 3, why: "prints the error of a stream and goes on with its loop (`streamText`)" },
};
const AI_SDK = ["ai@7.0.173", "@ai-sdk/openai@4.0.118", "zod@4.6.7"];

export const PROGRAMS: readonly Program[] = [
  {
    name: "Claude Code",
    npm: ["@anthropic-ai/claude-code@2.1.330"],
    command: 'claude -p "$PROMPT" --permission-mode acceptEdits --allowedTools Read Write',
    seesPictures: true,
    ends: {
      "late refusal": {
        requests: 2,
        why: "asks once more without a stream when one fails (`CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK` unset)",
      },
    },
  },
  {
    name: "Codex",
    npm: ["@openai/codex@0.169.0"],
    command: 'codex exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox "$PROMPT"',
    ends: {
      "dead account": {
        requests: 30,
        why: "repeats every 5xx: five requests (codex-client, retry.rs, `is_server_error`) in each of six streams (`UnexpectedStatus` is retryable)",
      },
    },
  },
  {
    name: "Gemini CLI",
    npm: ["@google/gemini-cli@0.61.0"],
    command: 'gemini --approval-mode yolo --skip-trust -p "$PROMPT"',
    seesPictures: true,
    ends: {
      "dead account": {
        requests: 10,
        why: "repeats every 5xx (core/src/utils/retry.ts, `is500`); details are read of 429, 499 and 503 only (googleQuotaErrors.ts)",
      },
      "late refusal": {
        requests: 40,
        why: "repeats a stream with an error of 5xx too, four times (core/src/core/geminiChat.ts, `MID_STREAM_RETRY_OPTIONS`)",
      },
    },
  },
  {
    name: "opencode",
    npm: ["opencode-ai@1.18.33"],
    command: 'opencode run "$PROMPT"',
    ends: repeats(
      6,
      "repeats five times what has a status from 500 on, and 429, which the AI SDK calls retryable (session/retry.ts, `retryable`)",
    ),
  },
  {
    name: "Qwen Code",
    npm: ["@qwen-code/qwen-code@0.15.10"],
    command: 'qwen --approval-mode yolo -p "$PROMPT"',
    ends: {
      ...repeats(
        7,
        "repeats every 429 and 5xx six times (core/src/core/geminiChat.ts, `shouldRetryOnError`), beside the client's own retries, which end",
      ),
      ...endsWithStream,
    },
  },
  {
    name: "AI SDK",
    npm: AI_SDK,
    loop: "ai-sdk.js",
    ends: AI_SDK_ENDS,
  },
  {
    name: "AI SDK 6",
    recipe: "AI SDK",
    npm: ["ai@6.0.322", "@ai-sdk/openai@3.0.141", "zod@4.6.7"],
    loop: "ai-sdk.js",
    ends: AI_SDK_ENDS,
  },
  {
    name: "AI SDK 5",
    recipe: "AI SDK",
    npm: ["ai@5.0.277", "@ai-sdk/openai@2.0.130", "zod@4.6.7"],
    loop: "ai-sdk.js",
    ends: AI_SDK_ENDS,
  },
  {
    name: "AI SDK with responses",
    npm: AI_SDK,
    loop: "ai-sdk.js",
    ends: AI_SDK_ENDS,
  },
  {
    name: "Mastra",
    npm: ["@mastra/core@1.71.0", "@ai-sdk/openai@3.0.141", "zod@4.6.7"],
    loop: "mastra.js",
    ends: neverRepeats("an agent has `maxRetries` 0 (agent.ts)"),
  },
  {
    name: "LangChain for JavaScript",
    npm: ["langchain@1.5.14", "@langchain/core@1.4.0", "@langchain/openai@1.5.8", "zod@4.6.7"],
    loop: "langchain.js",
    // The late refusal has a status here, because the program requests a complete reply instead of a stream.
    ends: repeats(
      7,
      "repeats every 5xx six times unless its code is `insufficient_quota` (@langchain/core, async_caller.ts), beside the client's own retries, which end",
      ["dead account", "late refusal"],
    ),
  },
  {
    name: "LlamaIndex for JavaScript",
    npm: ["llamaindex@0.12.1", "@llamaindex/openai@0.4.22", "@llamaindex/workflow@1.1.24", "zod@4.6.7"],
    loop: "llamaindex.js",
    ends: endsWithStream,
  },
  {
    name: "Mistral for JavaScript",
    npm: ["@mistralai/mistralai@2.7.0"],
    loop: "mistral.js",
    ends: {
      ...neverRepeats("`retryConfig` is 'none' unless it is set (funcs/chatStream.ts)"),
      "late refusal": {
        requests: 1,
        message: /ZodError/,
        why: "its schema of chunks has no error (models/components/completionevent.ts), so it shows its own",
      },
    },
  },
  {
    name: "Google Gen AI for JavaScript",
    npm: ["@google/genai@2.32.0"],
    loop: "google-genai.js",
    ends: neverRepeats("only with `httpOptions.retryOptions` (_api_client.ts, `apiCall`)"),
  },
  { name: "OpenAI for Python", pip: ["openai==3.54.0"], loop: "chat.py" },
  {
    name: "Anthropic for Python",
    pip: ["anthropic==2.12.0"],
    loop: "anthropic.py",
    ends: repeats(
      2,
      "its runner of tools first asks for a thread, which is refused before a vendor is called (lib/threads/_thread_state.py, `recovers_from`); the client itself ends",
      ["dead account", "spent budget", "late refusal"],
    ),
  },
  {
    name: "Google Gen AI for Python",
    pip: ["google-genai==3.4.0"],
    loop: "google_genai.py",
    ends: neverRepeats("only with `http_options.retry_options` (_api_client.py, `retry_args`)"),
  },
  { name: "LiteLLM", pip: ["litellm==1.100.0"], loop: "chat.py" },
  {
    name: "LangChain for Python",
    pip: ["langchain==1.4.7", "langchain-openai==1.7.3"],
    loop: "langchain.py",
  },
  { name: "Pydantic AI", pip: ["pydantic-ai-slim[openai]==2.68.0"], loop: "pydantic_ai.py" },
  { name: "Instructor", pip: ["instructor==1.17.0"], loop: "instructor.py", takesOneCall: true },
];
