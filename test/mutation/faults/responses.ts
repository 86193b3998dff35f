import type { Fault } from "../fault.ts";

const FOLDER = "src/dialects/responses";
const unit = [
  `${FOLDER}/request.test.ts`,
  `${FOLDER}/stream.test.ts`,
  `${FOLDER}/write-reply.test.ts`,
  `${FOLDER}/read-reply.test.ts`,
  `${FOLDER}/translation.test.ts`,
];
const hostileUsage = ["src/dialects/hostile-usage.test.ts"];
const vendor = ["test/contracts/openai-responses.test.ts"];

/** Faults in the responses protocol, which the gateway offers without a store. */
export const RESPONSES_FAULTS: readonly Fault[] = [
  {
    name: "what was written to the cache passes the rest of the input",
    file: `${FOLDER}/usage.ts`,
    find: "(input ?? 0) - cacheRead);",
    replace: "input ?? 0);",
    tests: hostileUsage,
  },
  {
    name: "reasoning passes the output that has it inside",
    file: `${FOLDER}/usage.ts`,
    find: 'counts.readPart(outputDetails["reasoning_tokens"], output ?? 0)',
    replace: 'counts.read(outputDetails["reasoning_tokens"]) ?? 0',
    tests: hostileUsage,
  },
  {
    name: "a reference to a stored item is sent on",
    file: `${FOLDER}/request.ts`,
    find: 'if (type === "item_reference") {',
    replace: 'if (type === "never") {',
    tests: unit,
  },
  {
    name: "tools in the input are not checked",
    file: `${FOLDER}/request.ts`,
    find: '  additional_tools: [["tools", list]],\n',
    replace: "",
    tests: ["test/spec/responses.test.ts"],
  },
  {
    name: "a vendor gets reasoning that it cannot decrypt",
    file: `${FOLDER}/forward.ts`,
    find: "const text = withoutForeignReasoning(named);",
    replace: "const text = named;",
    tests: unit,
  },
  {
    name: "an account is not asked again without the reasoning of another one",
    file: "src/providers/openai-compatible/responses.ts",
    find: "isUnreadable ? withoutReasoning(call.raw) : call.raw",
    replace: "call.raw",
    tests: vendor,
  },
  {
    name: "a response says that it was stored",
    file: `${FOLDER}/forward.ts`,
    find: `store: (old) => (old === "true" ? "false" : undefined),`,
    replace: "",
    tests: unit,
  },
  {
    name: "cached tokens are billed twice",
    file: `${FOLDER}/usage.ts`,
    find: "input: (input ?? 0) - cacheRead - cacheWrite,",
    replace: "input: input ?? 0,",
    tests: unit,
  },
  {
    name: "a cut stream ends as a whole one",
    file: "src/dialects/sse/forwarded-stream.ts",
    find: `if (!this.#isComplete) throw new UpstreamError("broken", "the stream was cut");`,
    replace: "if (!this.#isComplete) return Buffer.concat(output);",
    tests: unit,
  },
  {
    name: "an error event has its fields once",
    file: `${FOLDER}/error.ts`,
    find: "    ...writeError(error),\n",
    replace: "",
    tests: unit,
  },
  {
    name: "a call that was cut looks complete",
    file: `${FOLDER}/output-items.ts`,
    find: `isBroken ? "incomplete" : "completed"`,
    replace: `"completed"`,
    tests: unit,
  },
  {
    name: "the signature of a call is lost",
    file: `${FOLDER}/write-reply.ts`,
    find: "const signed = event.signature ? ",
    replace: "const signed = event.signature && false ? ",
    tests: unit,
  },
  {
    name: "the caller sees the flat name of its tool",
    file: `${FOLDER}/tools.ts`,
    find: "this.#tools.get(name) ?? ",
    replace: "",
    tests: unit,
  },
  {
    name: "a schema is strict although its caller did not say so",
    file: `${FOLDER}/write-request.ts`,
    find: "strict: strict ?? false",
    replace: "strict: strict ?? true",
    tests: unit,
  },
  {
    name: "a vendor is sent a maximum that it refuses",
    file: `${FOLDER}/write-request.ts`,
    find: "Math.max(MIN_OUTPUT_TOKENS, Math.min(wanted, model.maxOutputTokens))",
    replace: "Math.min(wanted, model.maxOutputTokens)",
    tests: [...unit, ...vendor],
  },
  {
    name: "the report of a response that failed is taken for all of it",
    file: "src/dialects/sse/forwarded-stream.ts",
    find: "return this.#meter.usage(this.#isComplete);",
    replace: "return this.#meter.usage(true);",
    tests: ["src/dialects/responses/stream.test.ts"],
  },
  {
    name: "the name of a call is free",
    file: `${FOLDER}/stream.ts`,
    find: '      this.#meter.pieces.add(textOf(item["name"]));\n',
    replace: "      void textOf;\n",
    tests: ["src/dialects/responses/stream.test.ts"],
  },
];
