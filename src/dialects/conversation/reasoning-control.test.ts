import { expect, test } from "bun:test";
import type { ReasoningControl } from "../../domain/model.ts";
import type { TextDialectName } from "../name.ts";
import { reasoningControl } from "./hints.ts";

test.each<[TextDialectName, string, ReasoningControl | undefined, ReasoningControl | undefined]>([
  // In these cases only the name of the vendor's model has an effect, not the gateway's model.
  ["messages", "claude-sonnet-5-5", "budget", "adaptive"],
  ["messages", "claude-haiku-4-5", "adaptive", "budget"],
  ["messages", "eu.anthropic.claude-opus-4-6-v1:0", "adaptive", "budget"],
  ["messages", "claude-3-7-sonnet-20250219", undefined, "budget"],
  ["messages", "claude-3-5-haiku-20241022", "adaptive", undefined],
  ["messages", "claude-sonnet-4-20250514", undefined, "budget"],
  ["native", "gemini-3.8-flash", "adaptive", "level"],
  ["native", "gemini-3-pro", undefined, "level"],
  ["native", "gemini-2.5-flash", "adaptive", "budget"],
  ["native", "gemini-2.0-flash", "level", undefined],
  ["chat", "gpt-6.1-sol", undefined, "effort"],
  ["responses", "o4-mini", "adaptive", "effort"],
  ["chat", "openai/gpt-oss-120b", undefined, "effort"],
  ["chat", "gpt-4.1", undefined, undefined],
  // For an unknown vendor model, the gateway's model decides, if the vendor's protocol has that model's control.
  ["chat", "qwen3", "effort", "effort"],
  ["chat", "qwen3", "adaptive", undefined],
  ["native", "my-tuned-model", "budget", "budget"],
  ["native", "my-tuned-model", "adaptive", undefined],
  ["messages", "deepseek-reasoner", "effort", "effort"],
])("%s, %s with %p in its record: %p", (dialect, upstreamModel, ofModel, control) => {
  expect(reasoningControl({ upstreamModel }, { dialect }, ofModel)).toBe(control);
});

test("the operator's word for the target comes first, and a vendor that takes an effort for every model is told", () => {
  const upstreamModel = "gpt-6-sol";
  expect(
    reasoningControl({ upstreamModel, reasoning: "none" }, { dialect: "chat" }, "effort"),
  ).toBeUndefined();
  expect(reasoningControl({ upstreamModel: "x", reasoning: "level" }, { dialect: "native" }, undefined)).toBe(
    "level",
  );
  const traits = { takesEffort: true };
  expect(reasoningControl({ upstreamModel: "x" }, { dialect: "chat", traits }, "adaptive")).toBe("effort");
});
