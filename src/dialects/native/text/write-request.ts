import { writeJson } from "../../../lib/json-edit.ts";
import { budgetOf, type Effort, effortOf, type Reasoning } from "../../conversation/reasoning.ts";
import { tellHints } from "../../conversation/hints.ts";
import type { Conversation, LeaveOut, Tool, ToolChoice } from "../../conversation/request.ts";
import { untranslatable } from "../../conversation/untranslatable.ts";
import type { VendorTerms } from "../../dialect.ts";
import { type Content, writeContents } from "./write-contents.ts";

/** A request of this protocol (Gemini API reference, `GenerateContentRequest`). */
interface GenerateContentRequest {
  systemInstruction?: { parts: { text: string }[] };
  contents: Content[];
  tools?: object[];
  toolConfig?: object;
  generationConfig?: object;
}

const MAX_STOPS = 5;

/** Returns the text of a request for a vendor. Throws an `UpstreamError` for content outside of the protocol. */
export function writeConversation(
  requested: Conversation,
  terms: VendorTerms,
  leaveOut: LeaveOut = () => {},
): string {
  if (requested.logprobs !== null) throw untranslatable(requested.params.logprobs ?? "logprobs");
  const thinkingConfig = writeThinking(requested.reasoning, terms);
  const telling = {
    conversation: requested,
    terms,
    isReasoned: thinkingConfig !== null,
    isShown: thinkingConfig?.includeThoughts !== undefined,
  };
  const conversation = tellHints(telling, "native", leaveOut);
  const { system, tools } = conversation;
  const instructions = system.filter(({ text }) => text !== "").map(({ text }) => ({ text }));
  const contents = writeContents(conversation, { isChecked: terms.model.reasoning === "level" });
  // This protocol requires at least one turn. Instructions without turns become a turn of the user.
  const isBare = contents.length === 0;
  const config = writeConfig(conversation, terms, thinkingConfig);
  const toolConfig = tools.length > 0 ? writeChoice(conversation.toolChoice) : null;
  const request: GenerateContentRequest = {
    ...(instructions.length > 0 && !isBare && { systemInstruction: { parts: instructions } }),
    contents: isBare ? [{ role: "user", parts: instructions }] : contents,
    ...(tools.length > 0 && {
      tools: [{ functionDeclarations: tools.map(declare) }],
    }),
    ...(toolConfig && { toolConfig }),
    ...(Object.keys(config).length > 0 && { generationConfig: config }),
  };
  return writeJson(request);
}

function declare({ name, description, parameters }: Tool): object {
  return {
    name,
    ...(description !== null && { description }),
    ...(parameters && { parametersJsonSchema: parameters }),
  };
}

function writeChoice(choice: ToolChoice | null): object | null {
  if (!choice) return null;
  switch (choice.type) {
    case "auto":
      return calling("AUTO");
    case "none":
      return calling("NONE");
    case "required":
      return calling("ANY");
    case "tool":
      return calling("ANY", [choice.name]);
    case "allowed":
      // Only the modes `ANY` and `VALIDATED` accept names. In `VALIDATED`, the model may also reply with text.
      return calling(choice.mode === "required" ? "ANY" : "VALIDATED", choice.names);
  }
}

function calling(mode: string, allowedFunctionNames?: readonly string[]): object {
  return { functionCallingConfig: { mode, ...(allowedFunctionNames && { allowedFunctionNames }) } };
}

function writeConfig(
  conversation: Conversation,
  terms: VendorTerms,
  thinkingConfig: ThinkingConfig | null,
): Record<string, unknown> {
  const { temperature, topP, topK, seed, presencePenalty, frequencyPenalty } = conversation;
  const stop = conversation.stop.filter((each) => each !== "");
  if (stop.length > MAX_STOPS) throw unsaid(conversation, "stop");
  const settings = {
    maxOutputTokens: conversation.maxTokens ?? terms.coveredTokens,
    temperature,
    topP,
    topK,
    stopSequences: stop.length > 0 ? stop : null,
    seed,
    presencePenalty,
    frequencyPenalty,
    ...writeFormat(conversation, terms),
    thinkingConfig,
  };
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null));
}

function writeFormat(conversation: Conversation, { model }: VendorTerms): object {
  const { format, tools } = conversation;
  if (!format) return {};
  // Models before the third generation support JSON or functions, but not both (Gemini API, structured output).
  if (tools.length > 0 && model.reasoning !== "level") throw unsaid(conversation, "format");
  const schema = format.type === "schema" ? { responseJsonSchema: format.schema } : {};
  return { responseMimeType: "application/json", ...schema };
}

function unsaid({ params }: Conversation, field: keyof Conversation): ReturnType<typeof untranslatable> {
  return untranslatable(params[field] ?? field);
}

interface ThinkingConfig {
  includeThoughts?: boolean;
  thinkingLevel?: string;
  thinkingBudget?: number;
}

/**
 * The level of each effort. Efforts below `low` also become `LOW`, because only some models have a lower level (Gemini
 * API, thinking).
 */
const LEVELS: Readonly<Record<Effort, string>> = {
  none: "LOW",
  minimal: "LOW",
  low: "LOW",
  medium: "MEDIUM",
  high: "HIGH",
  xhigh: "HIGH",
  max: "HIGH",
};

/** Range of budgets that larger models accept, in tokens. Larger models do not accept zero (Gemini API, thinking). */
const LARGE_MODEL = { min: 128, max: 32_768 };
const SMALL_MODEL = { min: 0, max: 24_576 };
/** The lowest budget above zero that the smallest models accept. */
const MIN_BUDGET = 512;

/**
 * Writes the settings for reasoning. Models of the third generation and later accept a level, older models a budget.
 * The vendor refuses a request with both. Returns null when the caller requests nothing or the model accepts neither.
 */
function writeThinking(
  reasoning: Reasoning | null,
  { model, upstreamModel }: VendorTerms,
): ThinkingConfig | null {
  if (!reasoning) return null;
  const { isVisible } = reasoning;
  const isLarge = /-pro\b/.test(upstreamModel);
  const effort = effortOf(reasoning);
  // A caller who sets a budget expects to see the reasoning, but this vendor shows reasoning only on request.
  const isShown = isVisible ?? (reasoning.budgetTokens === null ? null : true);
  const visible = isShown === null ? {} : { includeThoughts: isShown };
  if (model.reasoning === "level") {
    return nonEmpty({ ...visible, ...(effort !== null && { thinkingLevel: LEVELS[effort] }) });
  }
  if (model.reasoning === "budget") {
    const budget = budgetOf(reasoning);
    return nonEmpty({ ...visible, ...(budget !== null && { thinkingBudget: fit(budget, isLarge) }) });
  }
  return null;
}

function fit(budget: number, isLarge: boolean): number {
  const { min, max } = isLarge ? LARGE_MODEL : SMALL_MODEL;
  const floor = budget === 0 ? min : Math.max(min, MIN_BUDGET);
  return Math.min(Math.max(budget, floor), max);
}

function nonEmpty(config: ThinkingConfig): ThinkingConfig | null {
  return Object.keys(config).length === 0 ? null : config;
}
