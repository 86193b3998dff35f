import type { Behaviour } from "../behaviour.ts";

/** Returns the usage of a chat response, with the behaviour's fault. Undefined means no usage. */
export function reportUsage(counts: { prompt: number; completion: number }, behaviour: Behaviour): unknown {
  if (behaviour.usage !== undefined) return behaviour.usage;
  const { prompt, completion } = counts;
  switch (behaviour.fault) {
    case "no-usage":
      return undefined;
    case "usage-null":
      return null;
    case "usage-strings":
      return writeReport(String(prompt), String(completion), String(prompt + completion));
    case "usage-negative":
      return writeReport(-prompt, -completion, -prompt - completion);
    case "usage-huge":
      return writeReport(1e308, 2 ** 63, 1e308);
    case "usage-float":
      return writeReport(prompt + 0.5, completion + 0.5, prompt + completion + 1);
    default:
      return writeReport(prompt, completion, prompt + completion);
  }
}

function writeReport(prompt: unknown, completion: unknown, total: unknown): Record<string, unknown> {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: total,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
  };
}
