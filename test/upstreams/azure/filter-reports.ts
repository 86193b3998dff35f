import type { ChatExtensions } from "../openai/extensions.ts";

const SAFE = { hate: { filtered: false, severity: "safe" }, violence: { filtered: false, severity: "safe" } };
const PROMPT = [{ prompt_index: 0, content_filter_results: SAFE }];

/**
 * Reports of the content filter. A first frame without choices, id or model has the report on the prompt. Each choice
 * has the report on the response (Azure OpenAI content streaming).
 */
export const FILTER_REPORTS: ChatExtensions = {
  whole: (response) => ({ ...response, prompt_filter_results: PROMPT }),
  *frames(frames) {
    const first = { choices: [], created: 0, id: "", model: "", object: "", prompt_filter_results: PROMPT };
    yield `data: ${JSON.stringify(first)}\n\n`;
    const report = `"content_filter_results":${JSON.stringify(SAFE)},"delta":`;
    for (const frame of frames) yield frame.replace('"delta":', report);
  },
};
