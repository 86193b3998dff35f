/**
 * The program that sent a request, by its `user-agent`: one of a fixed list, so that callers cannot fill the sums of usage
 * with names of their own. Null where the request named none.
 */
export function clientProgram(userAgent: string | null): string | null {
  if (userAgent === null || userAgent === "") return null;
  const named = userAgent.slice(0, MAX_LENGTH);
  return PROGRAMS.find(([pattern]) => pattern.test(named))?.[1] ?? "other";
}

/** Names of programs stand at the beginning; a library behind a program's own name is found by the next rows. */
const MAX_LENGTH = 200;

/** Programs before the libraries that they are made of, and those before the runtimes that send for them. */
const PROGRAMS: readonly (readonly [pattern: RegExp, program: string])[] = [
  [/^claude-cli\//, "Claude Code"],
  [/^codex[_-]/, "Codex"],
  [/^GeminiCLI/, "Gemini CLI"],
  [/^QwenCode/, "Qwen Code"],
  [/^opencode\//, "opencode"],
  [/langchain/i, "LangChain"],
  [/llama-?index/i, "LlamaIndex"],
  [/\bai-sdk\//, "AI SDK"],
  [/^(?:Async)?(?:Azure)?OpenAI\/Python/, "OpenAI Python"],
  [/^(?:Async)?(?:Azure)?OpenAI\/JS/, "OpenAI JavaScript"],
  [/^(?:Async)?OpenAI\/(?:Go|Java|Ruby)/, "OpenAI, other languages"],
  [/^(?:Async)?Anthropic\w*\/Python/, "Anthropic Python"],
  [/^(?:Async)?Anthropic\w*\/JS/, "Anthropic JavaScript"],
  [/^(?:Async)?Anthropic\w*\/(?:Go|Java|Ruby)/, "Anthropic, other languages"],
  [/google-genai-sdk\/.*gl-python/, "Google Gen AI Python"],
  [/google-genai-sdk\//, "Google Gen AI JavaScript"],
  [/mistralai|mistral-client/, "Mistral"],
  [/^curl\//, "curl"],
  [/^Mozilla\//, "Browser"],
  [/^PostmanRuntime\//, "Postman"],
  [/^(?:python|Python)|aiohttp/, "Python"],
  [/^(?:node|undici|axios|Deno|Bun)\b/, "JavaScript"],
  [/^Go-http-client/, "Go"],
  [/^(?:Java|okhttp|Apache-HttpClient)/, "Java"],
];
