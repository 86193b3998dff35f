import { isObject } from "../../../src/lib/json.ts";
import type { ReceivedRequest } from "../http-server.ts";
import { findMessageFault } from "./message-rules.ts";
import { invalid, type Refusal } from "./refusals.ts";

/** A model's kind of thinking, and its maximum output. */
export interface SimulatedModel {
  thinking: "enabled" | "adaptive";
  maxTokens: number;
}

export type Body = Record<string, unknown>;

const FIELDS: ReadonlySet<string> = new Set(
  (
    "model messages max_tokens system stream stop_sequences metadata thinking output_config tools tool_choice " +
    "temperature top_p top_k service_tier container cache_control context_management mcp_servers speed inference_geo"
  ).split(" "),
);
const VERSIONS: ReadonlySet<unknown> = new Set(["2023-06-01", "2026-10-21"]);
const SAMPLING = ["temperature", "top_p", "top_k"];
const MIN_BUDGET = 1_024;

/** Returns the error of an invalid request, or undefined. Counting tokens allows neither `max_tokens` nor `stream`. */
export function findFault(
  { headers }: ReceivedRequest,
  body: Body | undefined,
  models: Readonly<Record<string, SimulatedModel>>,
  isCount: boolean,
): Refusal | undefined {
  const version = headers["anthropic-version"];
  if (version === undefined) return invalid("anthropic-version: header is required");
  if (!VERSIONS.has(version)) return invalid(`anthropic-version: "${version}" is not a valid version`);
  if (headers["content-type"] !== "application/json" || !body)
    return invalid("The request body is not valid JSON");
  const beta = /(?:^|[ ,])(unknown-[\w-]+)/.exec(String(headers["anthropic-beta"]))?.[1];
  if (beta !== undefined)
    return invalid(`Unexpected value(s) \`${beta}\` for the \`anthropic-beta\` header.`);
  const known = new Set(FIELDS);
  if (isCount) for (const name of ["max_tokens", "stream"]) known.delete(name);
  if (version === "2026-10-21") for (const name of SAMPLING) known.delete(name);
  if (!/context-management/.test(String(headers["anthropic-beta"]))) known.delete("context_management");
  const extra = Object.keys(body).find((name) => !known.has(name));
  if (extra !== undefined) return invalid(`${extra}: Extra inputs are not permitted`);
  if (typeof body["model"] !== "string") return invalid("model: Field required");
  const model = models[body["model"]];
  if (!model) return { status: 404, type: "not_found_error", message: `model: ${body["model"]}` };
  return (
    (isCount ? undefined : findLimitFault(body, model)) ??
    findThinkingFault(body, model) ??
    findToolFault(body, model) ??
    findSamplingFault(body, model) ??
    findMessageFault(body, model)
  );
}

function findLimitFault({ max_tokens: limit }: Body, { maxTokens }: SimulatedModel): Refusal | undefined {
  if (limit === undefined) return invalid("max_tokens: Field required");
  if (!Number.isInteger(limit)) return invalid("max_tokens: Input should be a valid integer");
  if (Number(limit) > maxTokens)
    return invalid(
      `max_tokens: ${limit} > ${maxTokens}, which is the maximum allowed number of output tokens`,
    );
  return Number(limit) < 1 ? invalid("max_tokens: must be greater than or equal to 1") : undefined;
}

function findThinkingFault(body: Body, { thinking: control }: SimulatedModel): Refusal | undefined {
  const { thinking, max_tokens: limit } = body;
  if (!isObject(thinking)) return undefined;
  const { type, budget_tokens: budget } = thinking;
  if (type === "enabled" && control === "adaptive")
    return invalid(
      '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
    );
  if (type === "adaptive" && control === "enabled")
    return invalid("adaptive thinking is not supported on this model");
  if (type === "disabled" && control === "adaptive")
    return invalid("thinking.type.disabled is not supported for this model");
  if (type !== "enabled") return undefined;
  if (Number(budget) < MIN_BUDGET)
    return invalid(`thinking.enabled.budget_tokens: Input should be greater than or equal to ${MIN_BUDGET}`);
  if (limit !== undefined && Number(budget) >= Number(limit))
    return invalid("`max_tokens` must be greater than `thinking.budget_tokens`");
  return undefined;
}

function findToolFault(
  { tools, tool_choice: choice, thinking }: Body,
  { thinking: control }: SimulatedModel,
) {
  const offered = Array.isArray(tools) ? tools : [];
  for (const [index, tool] of offered.entries()) {
    if ((tool.type ?? "custom") !== "custom") continue;
    if (!/^[a-zA-Z0-9_-]{1,128}$/.test(String(tool.name)))
      return invalid(`tools.${index}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`);
    if (tool.input_schema?.type !== "object")
      return invalid(`tools.${index}.custom.input_schema.type: Input should be 'object'`);
  }
  if (!isObject(choice)) return undefined;
  if (offered.length === 0) return invalid("tool_choice may only be specified while providing tools.");
  const isForced = choice["type"] === "any" || choice["type"] === "tool";
  const isThinking = isObject(thinking) && thinking["type"] === "enabled";
  if (isForced && isThinking && control === "enabled")
    return invalid("Thinking may not be enabled when tool_choice forces tool use.");
  if (choice["type"] === "none" && "disable_parallel_tool_use" in choice)
    return invalid("tool_choice.none.disable_parallel_tool_use: Extra inputs are not permitted");
  return undefined;
}

function findSamplingFault(body: Body, { thinking: control }: SimulatedModel): Refusal | undefined {
  const { temperature, top_p: topP, top_k: topK, stop_sequences: stops, thinking } = body;
  const isThinking = isObject(thinking) && thinking["type"] === "enabled";
  if (temperature !== undefined && !(Number(temperature) >= 0 && Number(temperature) <= 1))
    return invalid("temperature: range: 0..1");
  if (control === "adaptive" && [temperature ?? 1, topP ?? 1].some((value) => value !== 1))
    return invalid("temperature: only the default value is supported on this model");
  if (control === "adaptive" && topK !== undefined) return invalid("top_k: not supported on this model");
  if (temperature !== undefined && topP !== undefined)
    return invalid("`temperature` and `top_p` cannot both be specified for this model. Please use only one.");
  if (isThinking && temperature !== undefined && temperature !== 1)
    return invalid("`temperature` may only be set to 1 when thinking is enabled.");
  if (isThinking && topK !== undefined) return invalid("`top_k` must be unset when thinking is enabled.");
  if (Array.isArray(stops) && stops.some((stop) => String(stop).trim() === ""))
    return invalid("stop_sequences: each stop sequence must contain non-whitespace");
  return undefined;
}
