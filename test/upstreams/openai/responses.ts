import type { Behaviour } from "../behaviour.ts";
import type { ReceivedRequest, SimulatedResponse } from "../http-server.ts";
import type { HttpExchange } from "../simulator.ts";
import { sendFrames, sendJson } from "../transport.ts";
import { refuse } from "./refusals.ts";
import { logprobsOf } from "./logprobs.ts";
import { cut, writeResponseFrames, type SimulatedReply } from "./response-frames.ts";
import { encryptedBy, findResponsesFault, type Parsed } from "./responses-rules.ts";

/** Handles responses, complete and streamed, for an account that stores nothing (OpenAI responses reference). */
export async function handleResponses(
  request: ReceivedRequest,
  response: SimulatedResponse,
  exchange: HttpExchange,
  { models, account }: { models: readonly string[]; account: string },
): Promise<void> {
  const fault = findResponsesFault(request, models, account);
  if (fault) return refuse(response, fault);
  const { behaviour } = exchange.hit;
  const reply = makeReply(exchange.hit.json(), behaviour, request.body.byteLength, account);
  const whole = { ...reply.response, output: reply.items };
  if (exchange.hit.json()["stream"] !== true || behaviour.fault === "json-for-stream") {
    await sendJson(response, 200, whole, behaviour);
    if (response.isFinished) exchange.reportUsage(reply.usage);
  } else if (await sendFrames(response, writeResponseFrames(reply, behaviour), behaviour))
    exchange.reportUsage(reply.usage);
}

/** Handles token counts (OpenAI responses reference, "Get input token counts"). */
export async function handleInputTokens(
  request: ReceivedRequest,
  response: SimulatedResponse,
  { models, account }: { models: readonly string[]; account: string },
): Promise<void> {
  const fault = findResponsesFault(request, models, account);
  if (fault) return refuse(response, fault);
  const input_tokens = Math.ceil(request.body.byteLength / 4);
  await sendJson(response, 200, { object: "response.input_tokens", input_tokens });
}

let responses = 0;
const PIECES = 4;

function makeReply(
  body: Parsed,
  behaviour: Behaviour,
  requestBytes: number,
  account: string,
): SimulatedReply {
  const number = ++responses;
  const reasons = String(body["model"]).startsWith("gpt-5") && body["reasoning"]?.effort !== "none";
  const limit = body["max_output_tokens"] ?? Number.POSITIVE_INFINITY;
  const wanted = behaviour.tokens ?? 8;
  const tokens = Math.min(wanted, limit);
  const items: Record<string, unknown>[] = [];
  if (reasons) items.push(reasoningItem(body, number, account));
  if (behaviour.fault === "unknown-events")
    items.push(
      {
        id: `ws_${number}`,
        type: "web_search_call",
        status: "completed",
        action: { type: "search", query: "x" },
      },
      { id: `odd_${number}`, type: "odd_item", anything: [1, 2] },
    );
  const calls = callItems(body, number, behaviour);
  items.push(...(calls.length > 0 ? calls : [messageItem(body, number, behaviour, tokens)]));
  const isCut = wanted > limit;
  const usage = usageOf(Math.ceil(requestBytes / 4), tokens, reasons ? 16 : 0, behaviour);
  return {
    items,
    pieces: behaviour.frames ?? PIECES,
    usage,
    response: {
      id: `resp_simulated${number}`,
      object: "response",
      access_programs: null,
      created_at: 1_790_000_000,
      status: isCut ? "incomplete" : "completed",
      completed_at: isCut ? null : 1_790_000_001,
      error: null,
      incomplete_details: isCut ? { reason: "max_output_tokens" } : null,
      instructions: body["instructions"] ?? null,
      max_output_tokens: body["max_output_tokens"] ?? null,
      model: `${String(body["model"])}-2026-01-01`,
      parallel_tool_calls: true,
      previous_response_id: null,
      reasoning: { effort: body["reasoning"]?.effort ?? "medium", summary: null },
      service_tier: "default",
      store: body["store"] ?? true,
      temperature: 1,
      text: { format: { type: "text" }, ...body["text"] },
      tool_choice: body["tool_choice"] ?? "auto",
      tools: body["tools"] ?? [],
      top_p: 1,
      truncation: "disabled",
      metadata: {},
      usage,
    },
  };
}

function reasoningItem(body: Parsed, number: number, account: string): Record<string, unknown> {
  const isShown = typeof body["reasoning"]?.summary === "string";
  const isEncrypted = (body["include"] ?? []).includes("reasoning.encrypted_content");
  return {
    id: `rs_${number}`,
    type: "reasoning",
    summary: isShown ? [{ type: "summary_text", text: "**Thinking** about the question." }] : [],
    ...(isEncrypted && { encrypted_content: `${encryptedBy(account)}${number}` }),
  };
}

/**
 * Returns the behaviour's calls. By default, calls one tool when the last item is the user's, unless `tool_choice` is
 * `none`: the behaviour's tool, the forced tool, or else the first tool.
 */
function callItems(body: Parsed, number: number, behaviour: Behaviour): Record<string, unknown>[] {
  const added: Parsed[] = Array.isArray(body["input"])
    ? body["input"].flatMap((item) => item.tools ?? [])
    : [];
  const tools: Parsed[] = [...(body["tools"] ?? []), ...added].flatMap((tool: Parsed) =>
    tool["type"] === "namespace"
      ? tool["tools"].map((each: object) => ({ ...each, namespace: tool["name"] }))
      : [tool],
  );
  const toolNamed = (name: unknown) => tools.find((tool) => tool["name"] === name);
  if (behaviour.calls)
    return behaviour.calls.map((call, index) => {
      const isText = toolNamed(call.name)?.["type"] === "custom";
      const text = isText ? String(call.arguments["input"]) : JSON.stringify(call.arguments);
      return writeCall(toolNamed(call.name) ?? { name: call.name }, `${number}_${index}`, text);
    });
  const choice = body["tool_choice"];
  const tool = toolNamed(behaviour.tool ?? choice?.name) ?? tools[0];
  const last = Array.isArray(body["input"]) ? body["input"].at(-1) : { role: "user" };
  if (!tool || choice === "none" || last?.role !== "user") return [];
  return [writeCall(tool, String(number), behaviour.text)];
}

function writeCall(tool: Parsed, id: string, text: string | undefined): Record<string, unknown> {
  const named = {
    call_id: `call_${id}`,
    name: tool["name"],
    ...(tool["namespace"] && { namespace: tool["namespace"] }),
  };
  if (tool["type"] === "custom")
    return {
      id: `ctc_${id}`,
      type: "custom_tool_call",
      status: "completed",
      ...named,
      input: text ?? '*** Begin Patch\n*** Add File: "a.txt"\n+é\n*** End Patch',
    };
  const args = text ?? JSON.stringify(sample(tool["parameters"]));
  return { id: `fc_${id}`, type: "function_call", status: "completed", ...named, arguments: args };
}

function messageItem(
  body: Parsed,
  number: number,
  behaviour: Behaviour,
  tokens: number,
): Record<string, unknown> {
  const words = Array.from({ length: tokens }, (_, index) => `word${index} `).join("");
  const schema = body["text"]?.format?.schema;
  const text = behaviour.text ?? (schema ? JSON.stringify(sample(schema)) : words);
  const isLogged = (body["include"] ?? []).includes("message.output_text.logprobs");
  const pieces = isLogged ? cut(text, behaviour.frames ?? PIECES) : [];
  const logprobs = logprobsOf(pieces, body["top_logprobs"] ?? 0);
  const part = { type: "output_text", text, annotations: [], logprobs };
  return { id: `msg_${number}`, type: "message", status: "completed", role: "assistant", content: [part] };
}

/** Returns a value of the schema's type, or a text for any other schema. */
function sample(schema: Parsed | undefined): unknown {
  switch (schema?.["type"]) {
    case "object": {
      const properties = Object.entries(schema["properties"] ?? {});
      return Object.fromEntries(properties.map(([name, value]) => [name, sample(Object(value))]));
    }
    case "array":
      return [sample(schema["items"])];
    case "number":
    case "integer":
      return 7;
    case "boolean":
      return true;
    default:
      return "value";
  }
}

function usageOf(input: number, output: number, reasoning: number, behaviour: Behaviour): unknown {
  if (behaviour.usage !== undefined) return behaviour.usage;
  if (behaviour.fault === "no-usage") return null;
  const wrong = behaviour.fault === "usage-negative" ? -1 : 1;
  return {
    input_tokens: input * wrong,
    input_tokens_details: { cached_tokens: 2, cache_write_tokens: 0 },
    output_tokens: output + reasoning,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output + reasoning,
  };
}
