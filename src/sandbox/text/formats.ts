import { collectReply, type ReplyEvent } from "../../dialects/conversation/reply.ts";
import type { Conversation as NeutralConversation } from "../../dialects/conversation/request.ts";
import type { Signature } from "../../dialects/conversation/signature.ts";
import type { TextDialect, TextPayload, TextRequest } from "../../dialects/dialect.ts";
import { messages, readCountRequest, readRequest } from "../../dialects/messages/index.ts";
import { native, readRequest as readNativeRequest } from "../../dialects/native/text/index.ts";
import { readRequest as readResponsesRequest, responses } from "../../dialects/responses/index.ts";
import type { TokenUsage } from "../../domain/usage.ts";
import type { TextCall } from "../../gateway/upstreams.ts";
import { composeThinking } from "./answer.ts";
import { composeReply, type Choice } from "./reply.ts";
import { fromNeutral } from "./neutral.ts";

/** A reply of the sandbox in one protocol. */
interface FormattedReply {
  /** Number of output tokens, with the reasoning tokens. */
  outputTokens: number;
  whole(): string;
  frames(): Generator<string, void>;
}

/** A protocol of the sandbox other than chat completions. */
export interface SandboxFormat {
  name: TextDialect["name"];
  reply(call: TextCall): FormattedReply;
  /**
   * Returns the response with the number of input tokens, without generating a reply. Absent when the protocol cannot
   * count tokens.
   */
  count?(call: TextCall): string;
}

/** All protocols except chat completions. */
export const FORMATS: readonly SandboxFormat[] = [
  {
    ...formatOf(messages, ({ raw }) => readRequest(Buffer.from(raw), NO_HEADERS)),
    count: ({ raw }) => {
      const conversation = messages.readConversation(readCountRequest(Buffer.from(raw), NO_HEADERS));
      return JSON.stringify({ input_tokens: fromNeutral(conversation, "").promptTokens });
    },
  },
  {
    ...formatOf(responses, ({ raw }) => readResponsesRequest(Buffer.from(raw))),
    count: ({ raw }) => {
      const conversation = responses.readConversation(readResponsesRequest(Buffer.from(raw)));
      const { promptTokens } = fromNeutral(conversation, "");
      return JSON.stringify({ object: "response.input_tokens", input_tokens: promptTokens });
    },
  },
  {
    ...formatOf(native, ({ raw, isStream }) =>
      readNativeRequest(Buffer.from(raw), { model: NO_MODEL, isStream }),
    ),
    count: ({ raw }) => {
      const payload = readNativeRequest(Buffer.from(raw), { model: NO_MODEL, isStream: false });
      return JSON.stringify({ totalTokens: fromNeutral(native.readConversation(payload), "").promptTokens });
    },
  },
];

/** Returns the sandbox's support for a protocol. Uses the reader and writer of the protocol's dialect. */
function formatOf<Request extends TextRequest>(
  dialect: TextDialect<Request>,
  read: (call: TextCall) => TextPayload<Request>,
): SandboxFormat {
  return {
    name: dialect.name,
    reply(call) {
      const payload = read(call);
      const neutral = dialect.readConversation(payload);
      const conversation = fromNeutral(neutral, call.upstreamModel);
      const { choices, usage: counts } = composeReply(conversation);
      const { prompt, completion, reasoning } = counts;
      const tokens = { input: prompt, output: completion - reasoning, reasoning };
      const usage: TokenUsage = { unit: "token", tokens, source: "upstream" };
      // The native protocol shows reasoning only on request.
      const isVisible = neutral.reasoning?.isVisible ?? dialect !== native;
      const thinking = reasoning > 0 ? composeThinking(conversation.question, reasoning) : [];
      const composed = { neutral, thinking, isVisible, dialect: dialect.name };
      const events = () => eventsOf(choices[0], composed);
      return {
        outputTokens: completion,
        whole: () => dialect.writeReply(collectReply(events()), payload, usage),
        *frames() {
          // In the messages protocol, the first event contains the number of input tokens. The exact number replaces
          // the estimate there.
          const counted = { ...payload, parsed: { ...payload.parsed, estimatedInput: prompt } };
          const writer = dialect.replyWriter(counted);
          for (const event of events()) yield writer.write(event);
          yield writer.end(usage);
        },
      };
    },
  };
}

const NO_HEADERS = new Headers();
/** The model of a request in the native protocol, whose body does not contain the model. */
const NO_MODEL = "sandbox";

interface ComposedText {
  dialect: Signature["dialect"];
  neutral: NeutralConversation;
  thinking: readonly string[];
  isVisible: boolean;
}

function* eventsOf(
  choice: Choice | undefined,
  { neutral, thinking, isVisible, dialect }: ComposedText,
): Generator<ReplyEvent, void> {
  yield { type: "start", id: null };
  if (isVisible) for (const text of thinking) yield { type: "reasoning", text };
  // In the native protocol, only visible reasoning has a signature.
  if (thinking.length > 0 && (isVisible || dialect !== "native")) {
    const value = Buffer.from(`sandbox-${Bun.hash(thinking.join("")).toString(36)}`).toString("base64");
    yield { type: "signature", signature: { dialect, value } };
  }
  if (!choice) return;
  const { toolCall, tokens, finishReason, stopSequence } = choice;
  if (toolCall) {
    const kind = neutral.tools.find(({ name }) => name === toolCall.name)?.kind ?? "function";
    yield { type: "call", call: 0, ...toolCall, kind };
    for (const text of tokens) yield { type: "arguments", call: 0, text };
  } else for (const text of tokens) yield { type: "text", text };
  yield { type: "finish", finish: { reason: finishReason, stopSequence } };
}
