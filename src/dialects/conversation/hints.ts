import type { VendorTerms, VendorTraits } from "../dialect.ts";
import type { TextDialectName } from "../name.ts";
import type { AssistantPart, Conversation, Hint, LeaveOut, Turn, UserPart } from "./request.ts";
import type { ReasoningControl, TargetReasoning } from "../../domain/model.ts";
import { entriesOf } from "../../lib/json.ts";

/** The facts about a request and its vendor that decide which hints are sent. */
interface Telling {
  conversation: Conversation;
  terms: VendorTerms;
  /** True when the requested reasoning is sent to the vendor. */
  isReasoned: boolean;
  /** True when the request to the vendor says to show or hide reasoning. */
  isShown: boolean;
  /** True when this request makes the model reason. `messages` vendors then accept no sampling settings. */
  isThinking?: boolean;
}

/** A condition for sending a hint to a vendor. `when` describes the condition in the documents. */
interface Rule {
  when: string;
  tells(telling: Telling): boolean;
}

type Told = boolean | Rule;

const refusing = (field: NonNullable<VendorTerms["traits"]["refuses"]>[number]): Rule => ({
  when: "unless the vendor refuses it",
  tells: ({ terms }) => !(terms.traits.refuses?.includes(field) ?? false),
});
const shorterThan = (most: number): Rule => ({
  when: `up to ${most} characters`,
  tells: ({ conversation: { user } }) => user !== null && user.length <= most,
});
const samplesFreely = ({ terms, isThinking }: Telling): boolean =>
  isThinking !== true && terms.model.reasoning !== "adaptive";
const reasoned: Rule = { when: "where the target reasons", tells: ({ isReasoned }) => isReasoned };
const shown: Rule = { when: "where the target reasons", tells: ({ isShown }) => isShown };

const MAX_SEED = 2 ** 31 - 1;
/** The highest temperature that Anthropic accepts (Anthropic API, "Messages"). */
const MAX_TEMPERATURE = 1;

/**
 * For each hint, the protocols whose vendors get the hint from callers of other protocols. Sources: the vendors' API
 * references; for `messages` also "Extended thinking" and "Migrating". The maximum length of `user` is that of
 * `safety_identifier` or `metadata.user_id`.
 */
export const TOLD_HINTS: Readonly<Record<Hint, Readonly<Record<TextDialectName, Told>>>> = {
  // The order matters, because a hint may depend on the result of earlier hints. `reasoning` precedes
  // `reasoningVisibility`, and `temperature` precedes `topP`.
  reasoning: { chat: reasoned, messages: reasoned, responses: reasoned, native: reasoned },
  reasoningVisibility: { chat: false, messages: shown, responses: shown, native: shown },
  temperature: {
    chat: {
      when: "up to the vendor's maximum",
      tells: ({ conversation: { temperature }, terms }) =>
        (temperature ?? 0) <= (terms.traits.maxTemperature ?? Infinity),
    },
    messages: {
      when: "up to 1, where the model does not think",
      tells: (telling) =>
        samplesFreely(telling) && (telling.conversation.temperature ?? 0) <= MAX_TEMPERATURE,
    },
    responses: true,
    native: true,
  },
  topP: {
    chat: true,
    messages: {
      when: "without a temperature, where the model does not think",
      tells: (telling) => samplesFreely(telling) && telling.conversation.temperature === null,
    },
    responses: true,
    native: true,
  },
  topK: {
    chat: { when: "where the vendor takes it", tells: ({ terms }) => terms.traits.takesTopK ?? false },
    messages: { when: "where the model does not think", tells: samplesFreely },
    responses: false,
    native: true,
  },
  seed: {
    chat: refusing("seed"),
    messages: false,
    responses: false,
    native: {
      when: "of 32 bits",
      tells: ({ conversation: { seed } }) => Math.abs(seed ?? 0) <= MAX_SEED,
    },
  },
  presencePenalty: { chat: true, messages: false, responses: false, native: true },
  frequencyPenalty: { chat: true, messages: false, responses: false, native: true },
  verbosity: { chat: refusing("verbosity"), messages: false, responses: true, native: false },
  parallelCalls: { chat: refusing("parallel_tool_calls"), messages: true, responses: true, native: false },
  user: {
    chat: {
      when: "up to 64 characters, unless the vendor refuses it",
      tells: (telling) => shorterThan(64).tells(telling) && refusing("user").tells(telling),
    },
    messages: shorterThan(256),
    responses: shorterThan(64),
    native: false,
  },
  // In chat only OpenAI accepts a cache key, and all of OpenAI's models can be called with the responses protocol.
  cacheKey: { chat: false, messages: false, responses: true, native: false },
  strict: { chat: true, messages: false, responses: true, native: false },
  cacheControl: {
    chat: {
      when: "where the vendor takes it, of users and instructions",
      tells: ({ conversation, terms }) =>
        terms.traits.takesCacheControl === true && !hasMarkElsewhere(conversation),
    },
    messages: true,
    responses: false,
    native: false,
  },
  detail: { chat: true, messages: false, responses: true, native: false },
  fileName: { chat: true, messages: true, responses: true, native: false },
};

const HINTS = entriesOf(TOLD_HINTS);

/**
 * Returns the conversation without the hints that vendors of this protocol do not get. Calls `leaveOut` for each of
 * these hints that requests something. Returns the same object when no hint is removed.
 */
export function tellHints(telling: Telling, vendor: TextDialectName, leaveOut: LeaveOut): Conversation {
  let left = telling;
  for (const [hint, vendors] of HINTS) {
    const { conversation } = left;
    const rule = vendors[vendor];
    if (rule === true || !isSet(conversation, hint) || (rule !== false && rule.tells(left))) continue;
    if (asksForSomething(conversation, hint)) leaveOut(hint);
    if (isField(conversation, hint)) left = without(left, hint);
  }
  return left.conversation;
}

function without(telling: Telling, hint: Hint): Telling {
  return { ...telling, conversation: { ...telling.conversation, [hint]: null } };
}

/** True for hints with a field in the conversation. Other hints belong to parts and tools; writers omit them. */
function isField(conversation: Conversation, hint: Hint): hint is Hint & keyof Conversation {
  return hint in conversation;
}

/** True when the hint has a value. For a hint of parts or tools, true when the caller's protocol has the hint. */
function isSet(conversation: Conversation, hint: Hint): boolean {
  return isField(conversation, hint) ? conversation[hint] !== null : conversation.params[hint] !== undefined;
}

/** True when the hint requests something. A value that is the vendors' default requests nothing. */
function asksForSomething(conversation: Conversation, hint: Hint): boolean {
  const { tools, turns, system, reasoning } = conversation;
  switch (hint) {
    case "temperature":
    case "topP":
      return conversation[hint] !== 1;
    case "presencePenalty":
    case "frequencyPenalty":
      return conversation[hint] !== 0;
    case "verbosity":
      return conversation.verbosity !== "medium";
    case "parallelCalls":
      return conversation.parallelCalls === false && tools.length > 0;
    case "reasoningVisibility":
      // If the hint `reasoning` was left out, this field is null, so that only `reasoning` is reported.
      return reasoning !== null && reasoning.isVisible !== null;
    case "strict":
      return tools.some(({ strict }) => strict === true);
    case "cacheControl":
      return [...tools, ...system].some(isMarked) || somePart(turns, isMarked);
    case "detail":
      return somePart(turns, (part) => part.type === "image" && (part.detail ?? "auto") !== "auto");
    case "fileName":
      return somePart(turns, (part) => part.type === "file" && part.name !== undefined);
    default:
      return true;
  }
}

/**
 * True when a part has a cache mark (`cache_control`) where `chat` vendors do not accept one. These vendors accept
 * marks only on the user's parts and on instructions (OpenRouter API, "Prompt caching").
 */
function hasMarkElsewhere({ tools, turns }: Conversation): boolean {
  return (
    tools.some(isMarked) ||
    turns.some(({ role, parts }) =>
      [...parts].some((part) => isMarked(part) && (role === "assistant" || part.type === "tool_result")),
    )
  );
}

function isMarked(part: object): boolean {
  return "cacheControl" in part;
}

/** True when `isFound` is true for any part of a turn or of a tool result. */
function somePart(turns: readonly Turn[], isFound: (part: UserPart | AssistantPart) => boolean): boolean {
  for (const { parts } of turns)
    for (const part of parts)
      if (isFound(part) || (part.type === "tool_result" && part.parts.some(isFound))) return true;
  return false;
}

/** The facts about a target that decide how reasoning is requested. */
interface ReasoningTarget {
  upstreamModel: string;
  /** The operator's setting for the target: a form, or `none`. Absent when the operator has set nothing. */
  reasoning?: TargetReasoning;
}

/**
 * Returns the form in which the gateway requests reasoning from a target for callers of other protocols. Undefined when
 * reasoning cannot be requested. The first known source decides: the operator's setting for the target, the name of the
 * vendor's model, the vendor, the gateway's own model.
 */
export function reasoningControl(
  { upstreamModel, reasoning }: ReasoningTarget,
  { dialect, traits = {} }: { dialect: TextDialectName; traits?: VendorTraits },
  ofModel: ReasoningControl | undefined,
): ReasoningControl | undefined {
  if (reasoning !== undefined) return reasoning === "none" ? undefined : reasoning;
  const byName = CONTROLS.find(({ names }) => names.includes(dialect))?.read(upstreamModel);
  if (byName !== undefined) return byName ?? undefined;
  switch (dialect) {
    case "chat":
    case "responses": {
      const isTold = traits.takesEffort || (traits.reasoningSwitch !== undefined && ofModel !== undefined);
      return isTold || ofModel === "effort" ? "effort" : undefined;
    }
    case "messages":
      return ofModel === "level" ? undefined : ofModel;
    case "native":
      return ofModel === "level" || ofModel === "budget" ? ofModel : undefined;
  }
}

/** `read` returns the form for a vendor's model name: null if the model has none, undefined if it is unknown. */
interface NamedControl {
  names: readonly TextDialectName[];
  read(upstreamModel: string): ReasoningControl | null | undefined;
}

const CONTROLS: readonly NamedControl[] = [
  {
    // Claude 5 and later need no budget. Claude 3.7 to 4.6 accept a budget (Anthropic API, "Extended thinking").
    names: ["messages"],
    read: (name) =>
      byVersion(/\bclaude-(?:[a-z]+-)?(\d)(?:[-.](\d)(?!\d))?/.exec(name), [5, "adaptive"], [3.7, "budget"]),
  },
  {
    // Gemini 3 and later accept a level. Gemini 2.5 accepts a budget (Gemini API, thinking).
    names: ["native"],
    read: (name) => byVersion(/\bgemini-(\d)(?:[-.](\d)(?!\d))?/.exec(name), [3, "level"], [2.5, "budget"]),
  },
  {
    // OpenAI's reasoning models and open models accept an effort (OpenAI reasoning guide).
    names: ["chat", "responses"],
    read: (name) => (/(?:^|\/)(?:o\d|gpt-[5-9]|gpt-oss)/.test(name) ? "effort" : undefined),
  },
];

function byVersion(
  found: RegExpExecArray | null,
  ...since: readonly [version: number, control: ReasoningControl][]
): ReasoningControl | null | undefined {
  if (!found) return undefined;
  const version = Number(`${found[1]}.${found[2] ?? 0}`);
  return since.find(([least]) => version >= least)?.[1] ?? null;
}
