import { makePng } from "../pictures.ts";
import { startTestGateway, type TestGateway } from "../gateway.ts";
import { CHAT_MODEL, fuzzRequest } from "./bodies.ts";

/** A gateway with a vendor that accepts every request immediately. */
export interface FuzzRig extends AsyncDisposable {
  gateway: TestGateway;
  /** Sends the request with this number. Returns a description of a fault in the response, or null. */
  send(seed: number, index: number): Promise<string | null>;
}

const PATIENCE_MS = 20_000;
const PICTURE = makePng(64, 64).toString("base64");
const USAGE = { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 };

export async function openFuzzRig(): Promise<FuzzRig> {
  const vendor = Bun.serve({ hostname: "127.0.0.1", port: 0, maxRequestBodySize: 2 ** 30, fetch: reply });
  const url = vendor.url.origin;
  const gateway = await startTestGateway({
    yaml: `
channels:
  openai: { provider: openai, base_url: "${url}/v1", credential: { env: VENDOR_KEY } }
  gemini: { provider: gemini, base_url: "${url}", credential: { env: VENDOR_KEY } }
models:
  ${CHAT_MODEL}:
    type: chat
    max_output_tokens: 4096
    price: { currency: USD, per_million: { input: "1", output: "2" } }
    route: { targets: [{ channel: openai, upstream_model: gpt-5.4 }] }
`,
    env: { VENDOR_KEY: "sk-fuzz", GATEWAY_LOG_LEVEL: "warn" },
  });
  return {
    gateway,
    send: (seed, index) => send(gateway, seed, index),
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await vendor.stop(true);
    },
  };
}

async function send({ url, key }: TestGateway, seed: number, index: number): Promise<string | null> {
  const { path, headers, body } = fuzzRequest(seed, index);
  try {
    const response = await fetch(`${url}${path}`, {
      method: "POST",
      body,
      headers: { authorization: `Bearer ${key}`, ...headers },
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const problem = problemOf(response.status, await response.text());
    return problem && `${index} ${path}: ${problem}: ${body.toString("utf8", 0, 300)}`;
  } catch (error) {
    return `${index} ${path}: ${String(error)}: ${body.toString("utf8", 0, 300)}`;
  }
}

/** Returns null for a success, and for a refusal with an error message. Any other response is a fault. */
function problemOf(status: number, text: string): string | null {
  if (status < 300) return null;
  if (status >= 500) return `a status of ${status}, ${text.slice(0, 300)}`;
  const error: unknown = status >= 400 && text.startsWith("{") ? JSON.parse(text).error : undefined;
  const message = (error as { message?: unknown } | undefined)?.message;
  return typeof message === "string" && message !== "" ? null : `${status} without an error message`;
}

async function reply(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  const text = await request.text();
  if (pathname.endsWith(":generateContent")) {
    const parts = [{ inlineData: { mimeType: "image/png", data: PICTURE } }];
    return Response.json({ candidates: [{ content: { role: "model", parts }, finishReason: "STOP" }] });
  }
  if (!pathname.endsWith("/chat/completions"))
    return Response.json({ created: 1_790_000_000, data: [{ b64_json: PICTURE }] });
  const head = { id: "c", created: 1_790_000_000, model: "gpt-5.4" };
  if (JSON.parse(text).stream !== true) {
    const choices = [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }];
    return Response.json({ ...head, object: "chat.completion", choices, usage: USAGE });
  }
  const chunk = (rest: object) =>
    `data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", ...rest })}\n\n`;
  const frames = [
    chunk({ choices: [{ index: 0, delta: { content: "hi" }, finish_reason: null }] }),
    chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }),
    chunk({ choices: [], usage: USAGE }),
    "data: [DONE]\n\n",
  ];
  return new Response(frames.join(""), { headers: { "content-type": "text/event-stream" } });
}
