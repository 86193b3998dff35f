import type { ReceivedRequest } from "../http-server.ts";
import { invalid, unknownModel, type Refusal } from "./refusals.ts";

/** Any value of a parsed request. Its members are checked where they are used. */
export type Parsed = ReturnType<typeof JSON.parse>;

const FIELDS: ReadonlySet<string> = new Set(
  (
    "model input instructions stream stream_options store background include max_output_tokens max_tool_calls " +
    "temperature top_p top_logprobs tools tool_choice parallel_tool_calls text reasoning metadata truncation user " +
    "safety_identifier prompt_cache_key prompt_cache_options prompt_cache_retention service_tier conversation " +
    "previous_response_id prompt context_management moderation client_metadata"
  ).split(" "),
);
const INCLUDABLE: ReadonlySet<string> = new Set([
  "reasoning.encrypted_content",
  "message.output_text.logprobs",
  "web_search_call.action.sources",
  "file_search_call.results",
  "code_interpreter_call.outputs",
  "computer_call_output.output.image_url",
  "message.input_image.image_url",
]);
const ID_PREFIX: Readonly<Record<string, string>> = {
  message: "msg_",
  reasoning: "rs_",
  function_call: "fc_",
  custom_tool_call: "ctc_",
};
const PARTS: Readonly<Record<string, readonly string[]>> = {
  user: ["input_text", "input_image", "input_file"],
  developer: ["input_text", "input_image", "input_file"],
  system: ["input_text", "input_image", "input_file"],
  assistant: ["output_text", "refusal"],
};
const TOOLS =
  "function custom namespace web_search file_search code_interpreter image_generation mcp local_shell".split(
    " ",
  );

/** Prefix of an account's encrypted reasoning, which no other account can decrypt. */
export const encryptedBy = (account: string) => `enc-${account}-`;

/** Returns the error of an invalid request, or undefined. Encrypted data of other accounts is refused. */
export function findResponsesFault(
  request: ReceivedRequest,
  models: readonly string[],
  account: string,
): Refusal | undefined {
  if (request.headers["content-type"] !== "application/json")
    return invalid("Unsupported content type.", null, "unsupported_content_type");
  const body: Parsed = JSON.parse(request.body.toString("utf8"));
  const unknown = Object.keys(body).find((name) => !FIELDS.has(name));
  if (unknown) return invalid(`Unknown parameter: '${unknown}'.`, unknown, "unknown_parameter");
  if (!models.includes(body["model"])) return unknownModel(String(body["model"]));
  if (body["previous_response_id"])
    return invalid("Previous response not found.", "previous_response_id", "previous_response_not_found");
  return findOptionFault(body) ?? findToolFault(body) ?? findInputFault(body["input"], account);
}

function findOptionFault(body: Parsed): Refusal | undefined {
  const { max_output_tokens: max, temperature, include, stream, stream_options: options, text } = body;
  if (typeof max === "number" && max < 16)
    return invalid(
      "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16.",
      "max_output_tokens",
      "integer_below_min_value",
    );
  if (typeof temperature === "number" && !(temperature >= 0 && temperature <= 2))
    return invalid("Invalid 'temperature'.", "temperature", "decimal_above_max_value");
  const other = (include ?? []).find((each: string) => !INCLUDABLE.has(each));
  if (other) return invalid(`Invalid value: '${other}'.`, "include[0]", "invalid_value");
  if (options && stream !== true) return invalid("'stream_options' needs 'stream'.", "stream_options");
  const format = text?.format;
  if (format?.type === "json_schema" && (!format.name || !format.schema))
    return invalid("Missing required parameter: 'text.format.name'.", "text.format.name");
  return undefined;
}

function findToolFault({ tools, tool_choice: choice }: Parsed): Refusal | undefined {
  for (const [index, tool] of (tools ?? []).entries()) {
    if (!TOOLS.includes(tool.type)) return invalid(`Invalid value: '${tool.type}'.`, `tools[${index}].type`);
    if (tool.type === "function" && tool.function)
      return invalid(`Missing required parameter: 'tools[${index}].name'.`, `tools[${index}].name`);
    if (tool.type === "function" && !/^[\w-]{1,64}$/.test(tool.name))
      return invalid("Invalid name.", `tools[${index}].name`, "invalid_value");
    if (tool.strict === true && tool.parameters?.additionalProperties !== false)
      return invalid(
        `Invalid schema for function '${tool.name}': 'additionalProperties' is required to be supplied and to be false.`,
        `tools[${index}].parameters`,
        "invalid_function_parameters",
      );
  }
  if (choice && choice !== "none" && choice !== "auto" && (tools ?? []).length === 0)
    return invalid("Tool choice must be specified with tools.", "tool_choice");
  return undefined;
}

function findInputFault(input: unknown, account: string): Refusal | undefined {
  if (typeof input === "string") return undefined;
  if (!Array.isArray(input) || input.length === 0)
    return invalid("Missing required parameter: 'input'.", "input", "missing_required_parameter");
  const calls = new Set<string>();
  const answered = new Set<string>();
  for (const [index, item] of input.entries()) {
    const type = item.type ?? "message";
    const path = `input[${index}]`;
    const prefix = ID_PREFIX[type];
    if (item.id !== undefined && prefix && !String(item.id).startsWith(prefix))
      return invalid(
        `Invalid '${path}.id': '${item.id}'. Expected an ID that begins with '${prefix}'.`,
        path,
      );
    if (type === "message") {
      const fault = findMessageFault(item, path);
      if (fault) return fault;
    } else if (type === "reasoning") {
      const fault = findReasoningFault(item, path, account);
      if (fault) return fault;
    } else if (type === "function_call" || type === "custom_tool_call") calls.add(item.call_id);
    else if (type === "function_call_output" || type === "custom_tool_call_output") {
      if (!calls.has(item.call_id))
        return invalid(`No tool call found for function call output with call_id ${item.call_id}.`, "input");
      answered.add(item.call_id);
    } else if (type !== "additional_tools") return invalid(`Invalid value: '${type}'.`, `${path}.type`);
  }
  const open = [...calls].find((id) => !answered.has(id));
  return open === undefined ? undefined : invalid(`No tool output found for function call ${open}.`, "input");
}

function findMessageFault({ role, content }: Parsed, path: string): Refusal | undefined {
  const allowed = PARTS[role];
  if (!allowed) return invalid(`Invalid value: '${role}'.`, `${path}.role`, "invalid_value");
  if (typeof content === "string") return undefined;
  if (!Array.isArray(content)) return invalid("Invalid type.", `${path}.content`, "invalid_type");
  const at = content.findIndex(({ type }) => !allowed.includes(type));
  if (at < 0) return undefined;
  const message = `Invalid value: '${content[at].type}'. Supported values are: ${allowed.join(", ")}.`;
  return invalid(message, `${path}.content[${at}]`, "invalid_value");
}

function findReasoningFault(item: Parsed, path: string, account: string): Refusal | undefined {
  if (!Array.isArray(item["summary"]))
    return invalid("Missing required parameter.", `${path}.summary`, "missing_required_parameter");
  const encrypted = item["encrypted_content"];
  if (typeof encrypted !== "string" || encrypted === "")
    return {
      ...invalid(
        `Item with id '${item["id"]}' not found. Items are not persisted when \`store\` is set to false.`,
        "input",
      ),
      status: 404,
    };
  if (encrypted.startsWith(encryptedBy(account))) return undefined;
  return invalid(
    "The encrypted content could not be verified. Reason: Encrypted content organization_id did not match the target organization.",
    null,
    "invalid_encrypted_content",
  );
}
