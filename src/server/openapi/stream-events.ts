/** Description of the stream of one protocol, for the documents. */
export interface StreamDescription {
  title: string;
  /** The request that starts the stream. */
  request: string;
  /** The meaning of each event by its name, in the order of first occurrence. */
  events: Readonly<Record<string, string>>;
  end: string;
  silence: string;
  failure: string;
}

/** The streams of the public interface by protocol. Vendors of a protocol may send events that are not listed here. */
export const STREAMS = {
  chat: {
    title: "Chat and completions",
    request: "`stream: true`",
    events: {
      "chat.completion.chunk":
        "A piece of a choice in `choices[].delta`: its role first, then text, reasoning, a refusal or calls, then a `finish_reason`. On completions the object is `text_completion`, with the piece in `choices[].text`",
      "a chunk without choices":
        "The `usage` that is billed; on completions only with `stream_options.include_usage`",
      "[DONE]": "The end; plain text, not JSON",
    },
    end: "a chunk without choices that has the `usage`, then `data: [DONE]`",
    silence: "a comment line",
    failure: '`data: {"error": …}`, without `[DONE]`',
  },
  messages: {
    title: "Messages",
    request: "`stream: true`",
    events: {
      message_start: "The message without its content, with the usage of the input",
      content_block_start:
        "A block begins: `text`, `thinking`, `redacted_thinking`, `tool_use` or one of the vendor's tools",
      content_block_delta:
        "A piece of the block: `text_delta`, `thinking_delta`, `signature_delta`, `input_json_delta` or `citations_delta`",
      content_block_stop: "The block is complete",
      message_delta: "`stop_reason`, and the `usage` that is billed",
      message_stop: "The end",
      ping: "Keep-alive",
      error: "The stream failed; nothing follows",
    },
    end: "`message_delta`, then `message_stop`",
    silence: "`event: ping`",
    failure: "`event: error` in place of both",
  },
  responses: {
    title: "Responses",
    request: "`stream: true`",
    events: {
      "response.created": "The response without its output",
      "response.in_progress": "The vendor works",
      "response.queued": "The vendor has the request in its queue",
      "response.output_item.added": "An item of the output begins: a message, a call or reasoning",
      "response.content_part.added": "A part of a message begins",
      "response.output_text.delta": "A piece of text",
      "response.output_text.done": "The whole text of the part",
      "response.refusal.delta": "A piece of a refusal",
      "response.refusal.done": "The whole refusal",
      "response.content_part.done": "The part is complete",
      "response.reasoning_summary_part.added": "A part of the summary of the reasoning begins",
      "response.reasoning_summary_text.delta": "A piece of the summary",
      "response.reasoning_summary_text.done": "The whole text of the part of the summary",
      "response.reasoning_summary_part.done": "The part of the summary is complete",
      "response.reasoning_text.delta": "A piece of reasoning that the vendor shows as it is",
      "response.reasoning_text.done": "The whole of that reasoning",
      "response.function_call_arguments.delta": "A piece of the arguments of a call",
      "response.function_call_arguments.done": "All arguments of the call",
      "response.custom_tool_call_input.delta": "A piece of the input of a custom tool's call",
      "response.custom_tool_call_input.done": "The whole input of that call",
      "response.web_search_call.in_progress": "The vendor's web search was called",
      "response.web_search_call.searching": "It searches",
      "response.web_search_call.completed": "It is done",
      "response.image_generation_call.in_progress": "The vendor's tool for pictures was called",
      "response.image_generation_call.generating": "It makes the picture",
      "response.image_generation_call.completed": "It is done",
      "response.output_item.done": "The item is complete",
      "response.completed": "The end, with the whole response and its `usage`",
      "response.incomplete": "The end where a limit or a filter ended it, with the reason",
      "response.failed": "The stream failed; `error` follows",
      error: "Code and message of the failure",
    },
    end: "`response.completed`, or `response.incomplete` where a limit or a filter ended it. Events are numbered from 0",
    silence: "a comment line",
    failure: "`response.failed`, then `event: error`",
  },
  native: {
    title: "The native protocol",
    request: "`:streamGenerateContent`; with `alt=sse` server-sent events, else one JSON array in pieces",
    events: {
      "a reply":
        "A piece of each candidate in `candidates[].content.parts`; the last one has `finishReason` and `usageMetadata`",
      "an error": "`error` in place of `candidates`; nothing follows",
    },
    end: "the reply with `finishReason`, without an end mark",
    silence: "a comment line, or white space in the array",
    failure: "an event, or an item of the array, with `error`",
  },
} as const satisfies Readonly<Record<string, StreamDescription>>;
