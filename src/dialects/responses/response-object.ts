import type { TokenUsage } from "../../domain/usage.ts";
import { systemClock } from "../../lib/clock.ts";
import { isObject } from "../../lib/json.ts";
import type { Finish } from "../conversation/reply.ts";
import type { ResponsesPayload } from "./request.ts";
import { writeUsage } from "./usage.ts";

/** How a response stands: it runs, or why it ended. */
type ResponseState = { kind: "running" } | { kind: "ended"; finish: Finish; usage: TokenUsage };

/**
 * The response object of a reply that the gateway writes itself: every field that the published schema requires, with
 * the request's own values where it repeats them (OpenAI responses reference).
 */
export class ResponseObject {
  readonly #model: string;
  readonly #echo: string;
  #head = "";

  constructor({ parsed }: ResponsesPayload) {
    this.#model = parsed.model;
    this.#echo = fields(echoOf(parsed.body));
  }

  /** Call first, once the response has its id. */
  begin(id: string): void {
    const createdAt = Math.floor(systemClock.now() / 1000);
    this.#head = fields({ id, object: "response", created_at: createdAt, model: this.#model });
  }

  /** Its text. Large requests repeat large tools, so what never changes is written once. */
  text(state: ResponseState, output: readonly object[]): string {
    return `{${this.#head},${fields(stateFields(state))},${fields({ output })},${this.#echo}}`;
  }

  /** The same as a value, of a response that runs. */
  value(output: readonly object[]): Record<string, unknown> {
    return JSON.parse(this.text({ kind: "running" }, output)) as Record<string, unknown>;
  }
}

function stateFields(state: ResponseState): object {
  if (state.kind === "running")
    return {
      status: "in_progress",
      completed_at: null,
      error: null,
      incomplete_details: null,
    };
  const { finish, usage } = state;
  const cut =
    finish.reason === "length" ? "max_output_tokens" : finish.reason === "refused" ? "content_filter" : null;
  return {
    status: cut === null ? "completed" : "incomplete",
    completed_at: cut === null ? Math.floor(systemClock.now() / 1000) : null,
    error: null,
    incomplete_details: cut === null ? null : { reason: cut },
    usage: writeUsage(usage),
  };
}

/** What a response repeats of its request. */
function echoOf(body: Readonly<Record<string, unknown>>): object {
  const text = isObject(body["text"]) ? body["text"] : {};
  const reasoning = isObject(body["reasoning"]) ? body["reasoning"] : {};
  return {
    access_programs: null,
    background: false,
    instructions: body["instructions"] ?? null,
    max_output_tokens: body["max_output_tokens"] ?? null,
    max_tool_calls: body["max_tool_calls"] ?? null,
    metadata: body["metadata"] ?? {},
    parallel_tool_calls: body["parallel_tool_calls"] ?? true,
    previous_response_id: null,
    prompt_cache_key: body["prompt_cache_key"] ?? null,
    reasoning: { effort: null, summary: null, ...reasoning },
    safety_identifier: body["safety_identifier"] ?? null,
    service_tier: "default",
    store: false,
    temperature: body["temperature"] ?? 1,
    text: { ...text, format: text["format"] ?? { type: "text" } },
    tool_choice: body["tool_choice"] ?? "auto",
    tools: Array.isArray(body["tools"]) ? body["tools"].map(toolOf) : [],
    top_logprobs: body["top_logprobs"] ?? 0,
    top_p: body["top_p"] ?? 1,
    truncation: body["truncation"] ?? "disabled",
    ...(typeof body["user"] === "string" && { user: body["user"] }),
  };
}

/** Functions have all their fields. */
function toolOf(tool: unknown): unknown {
  if (!isObject(tool) || tool["type"] !== "function") return tool;
  return { ...tool, parameters: tool["parameters"] ?? null, strict: tool["strict"] ?? null };
}

/** Members without their braces. */
function fields(value: object): string {
  return JSON.stringify(value).slice(1, -1);
}
