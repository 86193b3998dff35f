import { readRequest } from "../../src/dialects/chat/index.ts";
import type { TextModel } from "../../src/domain/model.ts";
import type { TokenPrice } from "../../src/domain/price.ts";
import type { TextOutcome } from "../../src/gateway/text.ts";
import type { TextCall, TextUpstream } from "../../src/gateway/upstreams.ts";
import { plainCore, type PlainCoreOptions } from "./plain-core.ts";

/* A model with its price, and vendors of chat completions, for tests of the core with plain objects. */

export const MODEL: TextModel = {
  id: "m",
  type: "chat",
  displayName: "M",
  ownedBy: "us",
  created: 0,
  isRetired: false,
  defaultOutputTokens: 100,
  maxOutputTokens: 1_000,
  modalities: { input: ["text"], output: ["text"] },
};
/** One nano-unit per token. */
export const RATE = { amount: 1_000_000n, source: "default", effectiveFrom: 0 } as const;
export const PRICE: TokenPrice = {
  unit: "token",
  currency: "USD",
  perMillion: { input: RATE, output: RATE },
};
export const USAGE = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
export const DONE = "data: [DONE]\n\n";

export const payload = (fields: object = {}) =>
  readRequest(
    Buffer.from(JSON.stringify({ model: "m", messages: [{ role: "user", content: "hi" }], ...fields })),
  );

export const chunk = (fields: object): string =>
  `data: ${JSON.stringify({ id: "c", model: "vendor-model", created: 1, choices: [], ...fields })}\n\n`;
export const word = (content: string, finish_reason: string | null = null): string =>
  chunk({ choices: [{ index: 0, delta: { content }, finish_reason }] });

/** Creates a core that calls these vendors in order. Its budget pays for 5,000 tokens. */
export const openText = (text: readonly TextUpstream[], options: Partial<PlainCoreOptions> = {}) =>
  plainCore({ model: MODEL, price: PRICE, text, budget: 5_000n, ...options });

/** Reads the text of a complete reply or of a whole stream. */
export async function readOutcome(outcome: TextOutcome): Promise<string> {
  if (outcome.kind === "whole") return outcome.text;
  return new Response(outcome.body).text();
}

/** Returns a vendor whose calls fail. */
export function failing(error: Error): TextUpstream {
  return { dialect: "chat", send: () => Promise.reject(error) };
}

/** Returns a vendor that sends complete responses. */
export function whole(): TextUpstream {
  const choices = [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }];
  const text = JSON.stringify({ id: "c", model: "vendor-model", choices, usage: USAGE });
  return { dialect: "chat", send: async () => ({ kind: "whole", text }) };
}

/** Returns a vendor that sends these chunks. The stream then ends, breaks, or is silent until it is aborted. */
export function streaming(
  chunks: readonly string[],
  ending: "ends" | "breaks" | "is silent" = "ends",
): TextUpstream {
  const send = async ({ signal }: TextCall) => {
    const rest = [...chunks];
    const stream = new ReadableStream<Uint8Array<ArrayBuffer>>(
      {
        async pull(controller) {
          const next = rest.shift();
          if (next !== undefined) return controller.enqueue(Buffer.from(next));
          if (ending === "ends") return controller.close();
          if (ending === "breaks") throw new Error("reset");
          const { promise, reject } = Promise.withResolvers<never>();
          signal.addEventListener("abort", () => reject(signal.reason), { once: true });
          await promise;
        },
      },
      { highWaterMark: 0 },
    );
    return { kind: "stream" as const, stream };
  };
  return { dialect: "chat", send };
}
