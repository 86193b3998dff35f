import type { ReceivedRequest } from "../http-server.ts";
import { invalid, unknownModel, type Refusal } from "./refusals.ts";

const FIELDS: ReadonlySet<string> = new Set(
  (
    "model messages stream stream_options max_completion_tokens max_tokens temperature top_p n seed stop " +
    "frequency_penalty presence_penalty logit_bias logprobs top_logprobs tools tool_choice parallel_tool_calls " +
    "functions function_call response_format reasoning_effort verbosity service_tier modalities audio prediction " +
    "metadata store prompt_cache_key prompt_cache_options prompt_cache_retention safety_identifier user " +
    "web_search_options moderation"
  ).split(" "),
);
const ROLES: ReadonlySet<unknown> = new Set(["developer", "system", "user", "assistant", "tool", "function"]);

/** Returns the error of an invalid chat request; undefined for a valid one. */
export function findChatFault(request: ReceivedRequest, models: readonly string[]): Refusal | undefined {
  if (request.headers["content-type"] !== "application/json")
    return invalid("You must send JSON with content type application/json.", null);
  const body = parse(request.body);
  if (!body) return invalid("We could not parse the JSON body of your request.", null);
  const unknown = Object.keys(body).find((name) => !FIELDS.has(name));
  if (unknown)
    return invalid(`Unrecognized request argument supplied: ${unknown}`, unknown, "unknown_parameter");
  const { model } = body;
  if (typeof model !== "string") return invalid("You must provide a model parameter", "model");
  if (!models.includes(model)) return unknownModel(model);
  return findMessageFault(body["messages"]) ?? findOptionFault(body);
}

function findMessageFault(messages: unknown): Refusal | undefined {
  if (!Array.isArray(messages) || messages.length === 0)
    return invalid("'messages' must be an array of at least one message.", "messages", "invalid_type");
  const at = messages.findIndex((message) => !ROLES.has(message?.role));
  if (at >= 0) return invalid("Invalid value for a role.", `messages[${at}].role`, "invalid_value");
  return undefined;
}

function findOptionFault(body: Record<string, unknown>): Refusal | undefined {
  const { stream, stream_options: options, tools, temperature } = body;
  if (options !== undefined && options !== null && stream !== true)
    return invalid(
      "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
      "stream_options",
    );
  const { logprobs, top_logprobs: alternatives } = body;
  if (alternatives !== undefined && logprobs !== true)
    return invalid("'top_logprobs' needs 'logprobs' to be set to true.", "top_logprobs");
  if (Array.isArray(tools) && tools.length === 0)
    return invalid("[] is too short - 'tools'", "tools", "empty_array");
  if (temperature !== undefined && !(Number(temperature) >= 0 && Number(temperature) <= 2))
    return invalid("Invalid 'temperature': expected a value from 0 to 2.", "temperature", "invalid_value");
  return undefined;
}

function parse(bytes: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? Object(value) : undefined;
  } catch {
    return undefined;
  }
}
