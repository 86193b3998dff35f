import type { ReasoningControl, TargetReasoning } from "../domain/model.ts";
import type { VendorTraits } from "./dialect.ts";
import type { TextDialectName } from "./name.ts";

/** A target, as far as decides how it is told to reason. */
interface ReasoningTarget {
  upstreamModel: string;
  /** The operator's word. */
  reasoning?: TargetReasoning;
}

/**
 * Returns the form in which a target is told of the reasoning that callers of another protocol ask for; undefined for a
 * target that cannot be told. The operator's word for the target decides first, then the vendor's model, whose name
 * tells what its vendor takes, then the vendor, then the record of the model, which may be served by vendors of several
 * protocols.
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

/** Reads the name of a vendor's model: undefined for an unknown family, null for a model that cannot be told. */
interface NamedControl {
  names: readonly TextDialectName[];
  read(upstreamModel: string): ReasoningControl | null | undefined;
}

const CONTROLS: readonly NamedControl[] = [
  {
    // Models from 5 on think by themselves, 3.7 to 4.6 take a budget (Anthropic API, "Extended thinking").
    names: ["messages"],
    read: (name) =>
      byVersion(/\bclaude-(?:[a-z]+-)?(\d)(?:[-.](\d)(?!\d))?/.exec(name), [5, "adaptive"], [3.7, "budget"]),
  },
  {
    // A level since the third generation, a budget in 2.5 (Gemini API, thinking).
    names: ["native"],
    read: (name) => byVersion(/\bgemini-(\d)(?:[-.](\d)(?!\d))?/.exec(name), [3, "level"], [2.5, "budget"]),
  },
  {
    // OpenAI's reasoning models and its open ones (OpenAI reasoning guide).
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
