import { readRequest as readChat } from "../../../src/dialects/chat/index.ts";
import type { TextPayload } from "../../../src/dialects/dialect.ts";
import { readRequest as readMessages } from "../../../src/dialects/messages/index.ts";
import type { TextDialectName } from "../../../src/dialects/name.ts";
import { readRequest as readNative } from "../../../src/dialects/native/text/index.ts";
import { readRequest as readResponses } from "../../../src/dialects/responses/index.ts";
import { CALLERS, QUESTIONS } from "../text-matrix.ts";

/** A request that gets random responses. */
export interface TextCase {
  payload: TextPayload;
  isSearching: boolean;
}

/** Returns a protocol's requests: each question, complete and streamed, with and without a small maximum. */
function textRequests(dialect: TextDialectName): readonly TextCase[] {
  const cases: TextCase[] = [];
  for (const question of QUESTIONS)
    for (const isStream of [false, true])
      for (const [max, more] of VARIANTS[dialect]) {
        const body = { ...CALLERS[dialect].body("m", question, isStream), ...max, ...more };
        cases.push({ payload: read(dialect, body, isStream), isSearching: "tools" in more });
      }
  return cases;
}

const SEARCHES = { tools: [{ type: "web_search_20250305", name: "web_search", max_uses: 2 }] };
const VARIANTS: Readonly<Record<TextDialectName, readonly (readonly [object, object])[]>> = {
  chat: [
    [{}, {}],
    [{ max_tokens: 40 }, {}],
    [{ max_tokens: 40 }, { n: 2 }],
  ],
  messages: [
    [{ max_tokens: 900 }, {}],
    [{ max_tokens: 40 }, {}],
    [{ max_tokens: 900 }, SEARCHES],
  ],
  responses: [
    [{}, {}],
    [{ max_output_tokens: 40 }, {}],
  ],
  native: [
    [{}, {}],
    [{ generationConfig: { maxOutputTokens: 40 } }, {}],
  ],
};

export const TEXT_CASES: Readonly<Record<TextDialectName, readonly TextCase[]>> = {
  chat: textRequests("chat"),
  messages: textRequests("messages"),
  responses: textRequests("responses"),
  native: textRequests("native"),
};

function read(dialect: TextDialectName, body: object, isStream: boolean): TextPayload {
  const bytes = Buffer.from(JSON.stringify(body));
  if (dialect === "chat") return readChat(bytes);
  if (dialect === "messages") return readMessages(bytes, new Headers());
  if (dialect === "responses") return readResponses(bytes);
  return readNative(bytes, { model: "m", isStream });
}
