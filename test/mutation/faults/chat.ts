import type { Fault } from "../fault.ts";

const EDITOR = "src/dialects/chat/chunk-editor.ts";
const READER = ["src/dialects/chat/read-stream.test.ts"];
const STREAM = ["src/dialects/chat/stream.test.ts", "src/dialects/chat/chunk-editor.test.ts"];
const LAWS = ["src/dialects/chat/translation.test.ts"];
const WRITER = ["src/dialects/chat/write-conversation.test.ts"];
const VENDORS = ["src/providers/openai-compatible/errors.test.ts"];

/** What chat streams, translations of chat and compatible vendors promise. */
export const CHAT_FAULTS: readonly Fault[] = [
  {
    name: "reasoning that only the total tells is billed and not shown",
    file: "src/dialects/chat/usage.ts",
    find: 'value["completion_tokens"] === completion_tokens;',
    replace: "completion_tokens >= 0;",
    tests: ["src/dialects/chat/usage.test.ts"],
  },
  {
    name: "usage stays beside choices",
    file: EDITOR,
    find: "const hasUsage = isBesideChoices && isObject(usage);",
    replace: "const hasUsage = isBesideChoices && isObject(usage) && false;",
    tests: STREAM,
  },
  {
    name: "a chunk lacks the public model",
    file: EDITOR,
    find: 'edits["model"] = () => this.#modelText;',
    replace: "void 0;",
    tests: STREAM,
  },
  {
    name: "a first delta lacks its role",
    file: EDITOR,
    find: 'if (isFirst ? !role : role !== undefined && role !== "assistant")',
    replace: 'if (!isFirst && role !== undefined && role !== "assistant")',
    tests: STREAM,
  },
  {
    name: "a call begins without a type",
    file: "src/dialects/chat/required-fields.ts",
    find: 'if (call["type"] !== kind) edits["type"] = always(kind);',
    replace: "void 0;",
    tests: STREAM,
  },
  {
    name: "a reply lacks fields that its vendor leaves out",
    file: "src/dialects/chat/required-fields.ts",
    find: 'if (message["refusal"] === undefined) edits["refusal"] = always(null);',
    replace: "void 0;",
    tests: ["src/dialects/chat/reply.test.ts"],
  },
  {
    name: "calls that share an index are one",
    file: "src/dialects/chat/call-numbers.ts",
    find: 'known !== "" && id !== known',
    replace: "false",
    tests: [...READER, ...STREAM],
  },
  {
    name: "a cut tag of reasoning is text",
    file: "src/dialects/chat/think-tags.ts",
    find: "length - tagStartLength(this.#held)",
    replace: "length",
    tests: READER,
  },
  {
    name: "a vendor that gave up has answered",
    file: "src/dialects/chat/finish-reason.ts",
    find: 'if (typeof reason === "string" && FAILURES.has(reason))',
    replace: 'if (reason === "never")',
    tests: READER,
  },
  {
    name: "a history loses signatures",
    file: "src/dialects/chat/reasoning.ts",
    find: 'return [{ type: "reasoning.text", text, ...(value !== undefined && { signature: value }), ...common }];',
    replace: 'return [{ type: "reasoning.text", text, ...common }];',
    tests: LAWS,
  },
  {
    name: "signatures of other protocols go to a vendor",
    file: "src/dialects/chat/write-messages.ts",
    find: 'if (!part.signature || part.signature.dialect === "chat") return part;',
    replace: "if (part) return part;",
    tests: WRITER,
  },
  {
    name: "a turn with calls lacks the reasoning that is demanded",
    file: "src/dialects/chat/write-messages.ts",
    find: 'const isDemanded = parts.some(({ type }) => type === "tool_call");',
    replace: "const isDemanded = false;",
    tests: WRITER,
  },
  {
    name: "an unknown field is dropped in silence",
    file: "src/dialects/conversation/refuse-others.ts",
    find: "throw untranslatable(name);",
    replace: "continue;",
    tests: WRITER,
  },
  {
    name: "a stream sends reasoning that a client must return in pieces",
    file: "src/dialects/chat/write-stream.ts",
    find: "return this.#delta({ reasoning_content: event.text });",
    replace: "return this.#endReasoning() + this.#delta({ reasoning_content: event.text });",
    tests: ["test/e2e/messages-vendor.test.ts"],
  },
  {
    name: "a large number of a tool's schema is changed by translation",
    file: "src/lib/exact-json.ts",
    find: "return span ? parseExactly(text.slice(span.start, span.end)) : parsed[name];",
    replace: "return parsed[name];",
    tests: ["src/dialects/exact-schemas.test.ts"],
  },
  {
    name: "two calls of a whole reply with one id become one",
    file: "src/dialects/chat/call-deltas.ts",
    find: "areWhole ? this.#calls.length : this",
    replace: "this",
    tests: ["src/dialects/chat/read-stream.test.ts"],
  },
  {
    name: "a link to a document is sent as its data",
    file: "src/dialects/chat/write-messages.ts",
    find: 'if ("url" in part.source) throw',
    replace: "if (false as boolean) throw",
    tests: WRITER,
  },
  {
    name: "an empty account is a limit",
    file: "src/providers/openai-compatible/errors.ts",
    find: "kindOfSentence(message) ??",
    replace: "",
    tests: VENDORS,
  },
  {
    name: "the time to wait is not read from a sentence",
    file: "src/providers/openai-compatible/errors.ts",
    find: "retryAfterSeconds: retrySecondsOf(message),",
    replace: "",
    tests: VENDORS,
  },
  {
    name: "a key of other headers is in a message",
    file: "src/providers/openai-compatible/connection.ts",
    find: "otherSecrets: Object.values(headers),",
    replace: "",
    tests: ["test/spec/own-servers.test.ts"],
  },
  {
    name: "events without data are passed on, which clients cannot parse",
    file: "src/dialects/chat/vendor-words.ts",
    find: `return EVENT_LINE.test(frame.toString("latin1")) ? NOTHING : neutralFrame(frame);`,
    replace: "return neutralFrame(frame);",
    tests: ["src/dialects/chat/stream.test.ts"],
  },
];
