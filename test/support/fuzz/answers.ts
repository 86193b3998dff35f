import type { TextDialectName } from "../../../src/dialects/name.ts";
import { startAnthropic, SIMULATED_KEY as MESSAGES_KEY } from "../../upstreams/anthropic.ts";
import { COMPATIBLE_KEY, startCompatible } from "../../upstreams/compatible.ts";
import { startGemini, SIMULATED_KEY as NATIVE_KEY } from "../../upstreams/gemini.ts";
import { startOpenAi, SIMULATED_KEY as OPENAI_KEY } from "../../upstreams/openai.ts";
import type { Simulator } from "../../upstreams/simulator.ts";
import { CALLERS, QUESTIONS } from "../text-matrix.ts";

/** A response that a strict vendor has sent. */
export interface Answer {
  isStream: boolean;
  text: string;
}

/** Responses of each protocol's vendors, complete and streamed, and a response with embeddings of two texts. */
export interface Answers extends Readonly<Record<TextDialectName, readonly Answer[]>> {
  embeddings: readonly Answer[];
}

const TEXTS = [undefined, 'Ünï \u{1F30A} 語 "quotes"\n\\u00e9'];

/** Returns the simulated vendors' responses to every question. */
export async function recordAnswers(): Promise<Answers> {
  const [openai, compatible, anthropic, gemini] = await Promise.all([
    startOpenAi(),
    startCompatible(),
    startAnthropic(),
    startGemini(),
  ]);
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
  const ofMessages = { "x-api-key": MESSAGES_KEY, "anthropic-version": "2023-06-01" };
  const ofNative = { "x-goog-api-key": NATIVE_KEY };
  try {
    const chat = [
      ...(await ask(openai, "chat", "gpt-5.4", bearer(OPENAI_KEY))),
      ...(await ask(
        compatible,
        "chat",
        "vendor-model",
        bearer(COMPATIBLE_KEY),
        "/deepseek/chat/completions",
      )),
    ];
    const messages = await ask(anthropic, "messages", "claude-opus-5", ofMessages);
    const input = { model: "text-embedding-3-small", dimensions: 4, input: ["one", "two"] };
    return {
      chat,
      messages: [...messages, ...messages.map(withSearch)],
      responses: await ask(openai, "responses", "gpt-5.4", bearer(OPENAI_KEY)),
      native: await ask(gemini, "native", "gemini-3.8-flash", ofNative),
      embeddings: [await post(openai, "/v1/embeddings", bearer(OPENAI_KEY), input, false)],
    };
  } finally {
    await Promise.all([openai, compatible, anthropic, gemini].map((each) => each.close()));
  }
}

async function ask(
  vendor: Simulator,
  dialect: TextDialectName,
  model: string,
  headers: Record<string, string>,
  ownPath?: string,
): Promise<Answer[]> {
  const { path, body } = CALLERS[dialect];
  const answers: Answer[] = [];
  for (const question of QUESTIONS)
    for (const text of TEXTS)
      for (const isStream of [false, true]) {
        vendor.next(text === undefined ? {} : { text });
        const sent = { ...body(model, question, isStream), ...(dialect === "native" ? {} : { model }) };
        answers.push(await post(vendor, ownPath ?? path(model, isStream), headers, sent, isStream));
      }
  return answers;
}

async function post(
  { url }: Simulator,
  path: string,
  headers: Record<string, string>,
  body: object,
  isStream: boolean,
): Promise<Answer> {
  const init = { method: "POST", headers: { "content-type": "application/json", ...headers } };
  const response = await fetch(`${url}${path}`, { ...init, body: JSON.stringify(body) });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`the simulated vendor refused: ${text}`);
  return { isStream, text };
}

const SEARCH = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} };
const FOUND = { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] };

/** Returns the message with the blocks and the usage of a web search (Anthropic API, "Web search tool"). */
function withSearch({ isStream, text }: Answer): Answer {
  const counted = text.replaceAll('"server_tool_use":null', '"server_tool_use":{"web_search_requests":1}');
  if (!isStream) {
    const message = JSON.parse(counted);
    return { isStream, text: JSON.stringify({ ...message, content: [SEARCH, FOUND, ...message.content] }) };
  }
  const events = [SEARCH, FOUND].flatMap((content_block, at) => [
    { type: "content_block_start", index: 90 + at, content_block },
    { type: "content_block_stop", index: 90 + at },
  ]);
  const frames = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
  return { isStream, text: counted.replace("event: message_delta", `${frames}event: message_delta`) };
}
