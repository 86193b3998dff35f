import type { Fault } from "../fault.ts";

const FOLDER = "src/dialects/messages";
const request = [`${FOLDER}/request.test.ts`];
const stream = [`${FOLDER}/stream.test.ts`];
const writer = [`${FOLDER}/write-reply.test.ts`];
const vendor = [`${FOLDER}/write-request.test.ts`];
const hostileUsage = ["src/dialects/hostile-usage.test.ts"];
const adapter = ["test/contracts/anthropic.test.ts"];

/** What the messages protocol promises. */
export const MESSAGES_FAULTS: readonly Fault[] = [
  {
    name: "a vendor gets thinking of another protocol, which it refuses",
    file: `${FOLDER}/forward.ts`,
    find: "const own = afterForeignAnswers(raw, parsed.body, traits);",
    replace: "const own = raw;",
    tests: request,
  },
  {
    name: "a call that another protocol's vendor made is asked to begin with thinking",
    file: `${FOLDER}/forward.ts`,
    find: 'return demandsThinking && isCallWithoutThinking(body) ? removeMember(own, "thinking") : own;',
    replace: "return own;",
    tests: ["test/e2e/messages-session.test.ts"],
  },
  {
    name: "fields that another protocol does not have are dropped in silence",
    file: `${FOLDER}/read-request.ts`,
    find: "readOwnNames(body, { known: KNOWN, hints: HINTS, neutral: NEUTRAL });",
    replace: "{ ownHints: [], ownFields: [] };",
    tests: [`${FOLDER}/read-request.test.ts`],
  },
  {
    name: "searches that a stream has delivered cost nothing where the vendor does not count them",
    file: `${FOLDER}/content.ts`,
    find: "if (use) sized.addUse(use);",
    replace: "",
    tests: stream,
  },
  {
    name: "what was written to the cache is free where only its total is reported",
    file: `${FOLDER}/usage.ts`,
    find: "written === null ? fiveMinutes : written - cacheWrite1h",
    replace: "fiveMinutes",
    tests: hostileUsage,
  },
  {
    name: "a split of the cache above its total has no flag",
    file: `${FOLDER}/usage.ts`,
    find: "fiveMinutes + hour > written",
    replace: "hour < 0",
    tests: hostileUsage,
  },
  {
    name: "iterations that contradict the top level have no flag",
    file: `${FOLDER}/usage.ts`,
    find: "parts.length > 0 && !agrees(whole, parts)",
    replace: "false as boolean",
    tests: hostileUsage,
  },
  {
    name: "a vendor gets text of white space alone, which it refuses",
    file: `${FOLDER}/write-blocks.ts`,
    find: 'text.trim() !== ""',
    replace: 'text !== ""',
    tests: vendor,
  },
  {
    name: "a line break inside of a call ends its block",
    file: `${FOLDER}/write-reply.ts`,
    find: 'if (typeof this.#open === "number" && text.trim() === "") {',
    replace: "if (false as boolean) {",
    tests: writer,
  },
  {
    name: "the input of a streamed call is no object",
    file: `${FOLDER}/write-reply.ts`,
    find: 'this.#isInputObject ??= text.trimStart().startsWith("{");',
    replace: "this.#isInputObject = true;",
    tests: writer,
  },
  {
    name: "the input of a call is parsed and printed again",
    file: `${FOLDER}/read-blocks.ts`,
    find: 'memberText(items.slice(start, end), "input") ?? "{}"',
    replace: "JSON.stringify(Object(block).input)",
    tests: request,
  },
  {
    name: "a server with links in its own network is not known to get one",
    file: `${FOLDER}/content.ts`,
    find: "linkParam ??= `${path}.url`;",
    replace: "linkParam = null;",
    tests: request,
  },
  {
    name: "a budget of thinking may be the whole maximum",
    file: `${FOLDER}/request.ts`,
    find: "Number(budget) >= Number(maxTokens)",
    replace: "Number(budget) > Number(maxTokens)",
    tests: request,
  },
  {
    name: "a later report of nothing replaces the counts of the start",
    file: `${FOLDER}/usage.ts`,
    find: 'value !== null && (value !== 0 || typeof before !== "number");',
    replace: "true;",
    tests: stream,
  },
  {
    name: "the ending goes out before the charge is recorded",
    file: `${FOLDER}/stream.ts`,
    find: "        this.#stop(written, event);\n",
    replace: "        this.#stop(written, event);\n        this.#writeEnding(output);\n",
    tests: stream,
  },
  {
    name: "a failure before any content is not another vendor's chance",
    file: "src/dialects/sse/vendor-frames.ts",
    find: "if (!isCommitted) throw error;",
    replace: "",
    tests: stream,
  },
  {
    name: "a stream shows other counts than are billed",
    file: `${FOLDER}/stream.ts`,
    find: "usage !== MISSING && !isCorrected(billed)",
    replace: "usage !== MISSING",
    tests: stream,
  },
  {
    name: "what was written to the cache is billed and not shown where only its split is reported",
    file: `${FOLDER}/forward.ts`,
    find: '!isCorrected(usage) && showsBilled(body["usage"], usage)',
    replace: "!isCorrected(usage) && showsBilled !== null",
    tests: [`${FOLDER}/forward.test.ts`],
  },
  {
    name: "a stream that goes on after its ending does not tell what it costs",
    file: `${FOLDER}/stream.ts`,
    find: "return this.#stopped !== null && showsBilled(this.#shown, this.#meter.usage(true));",
    replace: "return this.#stopped !== null;",
    tests: stream,
  },
  {
    name: "the zeros of a stream's last event hide what its first one has told",
    file: `${FOLDER}/stream.ts`,
    find: "(!isLast || showsBilled(this.#shown, billed))",
    replace: "(true as boolean)",
    tests: stream,
  },
  {
    name: "calls that grow at once share a block",
    file: `${FOLDER}/write-reply.ts`,
    find: 'if (typeof this.#open === "number") {',
    replace: "if (this.#open === Number.NaN) {",
    tests: writer,
  },
  {
    name: "a caller gets ids that it may not send to a vendor of the protocol",
    file: `${FOLDER}/tools.ts`,
    find: "USABLE.test(id) && !id.startsWith(CARRIED) ? id",
    replace: "USABLE.test(id) || id !== CARRIED ? id",
    tests: writer,
  },
  {
    name: "a call without a result is sent without one",
    file: `${FOLDER}/write-request.ts`,
    find: "...missing.map(noResult),",
    replace: "",
    tests: vendor,
  },
  {
    name: "a vendor gets a budget beyond its maximum",
    file: `${FOLDER}/thinking.ts`,
    find: ", maxTokens - 1)",
    replace: ", maxTokens + 1)",
    tests: vendor,
  },
  {
    name: "a missing key has a top-level type",
    file: `${FOLDER}/error.ts`,
    find: 'if (kind === "access") return { error: { type: code, message } };',
    replace: "",
    tests: [`${FOLDER}/forward.test.ts`],
  },
  {
    name: "an empty balance at the vendor is told as the caller's fault",
    file: "src/providers/messages-compatible/errors.ts",
    find: "byCode ?? bySentence ?? kindOfType(type)",
    replace: "kindOfType(type)",
    tests: adapter,
  },
  {
    name: "the caller's version and betas stay behind",
    file: "src/providers/messages-compatible/text.ts",
    find: "headers: { ...common, ...headers }",
    replace: "headers: { ...headers, ...common }",
    tests: adapter,
  },
  {
    name: "the key is not read from the header of the protocol",
    file: "src/server/endpoints/text.ts",
    find: 'keyHeaders: () => ["x-api-key"]',
    replace: "keyHeaders: () => []",
    tests: ["test/spec/messages.test.ts"],
  },
];
