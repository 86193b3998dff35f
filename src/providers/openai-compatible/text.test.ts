import { expect, test } from "bun:test";
import { openai } from "../openai.ts";

test("OpenAI takes a maximum as max_completion_tokens, compatible vendors as max_tokens", () => {
  const fieldAt = (baseUrl?: string) =>
    openai.text?.(openai.settings.parse({ apiKey: "k", ...(baseUrl && { baseUrl }) }))[0]?.traits
      ?.maxTokensField;
  expect(fieldAt()).toBe("max_completion_tokens");
  expect(fieldAt("https://vendor.example/v1")).toBeUndefined();
});
