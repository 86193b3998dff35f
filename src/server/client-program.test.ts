import { expect, test } from "bun:test";
import { clientProgram } from "./http-exchange.ts";

test.each([
  ["OpenAI/JS 7.55.0", "OpenAI JavaScript"],
  ["AsyncOpenAI/Python 2.1.0", "OpenAI Python"],
  ["Anthropic/JS 1.12.0", "Anthropic JavaScript"],
  ["AsyncAnthropicBedrock/Python 0.80", "Anthropic Python"],
  ["claude-cli/2.1.0 (external, cli)", "Claude Code"],
  ["codex_cli_rs/0.60.1 (Debian 12; x86_64) unknown", "Codex"],
  ["GeminiCLI/0.20.0/gemini-3-pro (linux; x64)", "Gemini CLI"],
  ["google-genai-sdk/2.32.0 gl-node/v24", "Google Gen AI JavaScript"],
  ["google-genai-sdk/1.50.0 gl-python/3.13", "Google Gen AI Python"],
  ["ai/6.0.322 ai-sdk/openai/3.0.141 runtime/node.js/24", "AI SDK"],
  ["mistral-client-python/2.4.4", "Mistral"],
  ["curl/8.5.0", "curl"],
  ["python-requests/2.32.3", "Python"],
  ["node", "JavaScript"],
  ["Mozilla/5.0 (X11; Linux x86_64)", "Browser"],
  ["a-name-of-its-own/1.0", "other"],
  ["", null],
  [null, null],
])("the program of %p is %p", (userAgent, program) => {
  expect(clientProgram(userAgent)).toBe(program);
});
