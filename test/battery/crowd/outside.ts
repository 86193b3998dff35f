/**
 * The servers that the crowd's gateway calls, except S3, in one process: a vendor of chat and pictures, and the hosts
 * of links. Prints one line of JSON with the vendor's address. A prompt may contain markers: `[[delay=500]]` delays the
 * response, `[[base64=20000000]]` sets a picture's length in characters, `[[names]]` requests a list of the received
 * fields, `[[relay]]` requests the vendor's name.
 */
import { gradient, makePng, pngChunk } from "../../support/pictures.ts";
import { certificateOf, DENIED_HOST, LINK_HOST, namespaceFolder } from "./network.ts";

const DELAY_MS = 100;
const FRAMES = 10;
const FRAME_MS = 15;
const DRIP_MS = 200;
const PICTURE = makePng(160, 120, { pixel: gradient });
const USAGE = { prompt_tokens: 12, completion_tokens: 24, total_tokens: 36 };

const vendor = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 0,
  maxRequestBodySize: 2 ** 31,
  async fetch(request) {
    const bytes = Buffer.from(await request.arrayBuffer());
    // The prompt is near the start of a request, before the pictures.
    const beginning = bytes.toString("utf8", 0, 65_536);
    await Bun.sleep(Number(/\[\[delay=(\d+)\]\]/.exec(beginning)?.[1] ?? DELAY_MS));
    if (new URL(request.url).pathname.endsWith("/chat/completions")) return chat(bytes.toString("utf8"));
    const characters = Number(/\[\[base64=(\d+)\]\]/.exec(beginning)?.[1] ?? 0);
    return new Response(pictureReply(characters), { headers: { "content-type": "application/json" } });
  },
});

interface ChatBody {
  model: string;
  stream?: boolean;
  messages: { content: unknown }[];
}

/**
 * Replies with the prompt's word `nonce-…`, by which a client recognizes its own reply, or with the received fields.
 */
function chat(text: string): Response {
  const body = JSON.parse(text) as ChatBody;
  const prompt = JSON.stringify(body.messages.at(-1)?.content ?? "");
  const nonce = /nonce-\w+/.exec(prompt)?.[0] ?? "";
  const content = prompt.includes("[[names]]") ? received(body) : `It is ${nonce}`;
  const relay = prompt.includes("[[relay]]") ? { provider: "OpenAI", system_fingerprint: "fp_openai_1" } : {};
  const head = { id: "chatcmpl-1", created: 1_790_000_000, model: body.model, ...relay };
  if (body.stream !== true) {
    const choices = [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }];
    return Response.json({ ...head, object: "chat.completion", choices, usage: USAGE });
  }
  const chunk = (rest: object) =>
    `data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", ...rest })}\n\n`;
  const delta = (text: string) =>
    chunk({ choices: [{ index: 0, delta: { content: text }, finish_reason: null }] });
  async function* frames(): AsyncGenerator<string> {
    if (prompt.includes("[[relay]]")) yield ": OPENROUTER PROCESSING\n\n";
    yield delta(content);
    for (let index = 0; index < FRAMES; index += 1) {
      await Bun.sleep(FRAME_MS);
      yield delta(` word${index}`);
    }
    yield chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
    yield `${chunk({ choices: [], usage: USAGE })}data: [DONE]\n\n`;
  }
  return new Response(frames() as never, { headers: { "content-type": "text/event-stream" } });
}

/** Reads a body like a vendor whose JSON library ignores case in names and uses the last of equal names. */
function received(body: object): string {
  const names = Object.keys(body);
  const model = Object.entries(body).findLast(([name]) => name.toLowerCase() === "model")?.[1];
  return `names=${names.join(",")} model=${model} parts=${JSON.stringify(body).includes("169.254") ? "internal" : "plain"}`;
}

const replies = new Map<number, Uint8Array<ArrayBuffer>>();

function pictureReply(characters: number): Uint8Array<ArrayBuffer> {
  const known = replies.get(characters);
  if (known) return known;
  const padding = Math.max(0, Math.floor(characters / 4) * 3 - PICTURE.length - 12);
  const noise = Buffer.alloc(padding, crypto.getRandomValues(new Uint8Array(65_536)));
  const bytes = padding === 0 ? PICTURE : withPadding(noise);
  const head = '{"created":1,"size":"1024x1024","quality":"low","output_format":"png","background":"opaque",';
  const reply = Buffer.from(`${head}"data":[{"b64_json":"${bytes.toString("base64")}"}]}`);
  replies.set(characters, reply);
  return reply;
}

function withPadding(noise: Buffer): Buffer {
  return Buffer.concat([PICTURE.subarray(0, -12), pngChunk("teSt", noise), PICTURE.subarray(-12)]);
}

const { key, certificate } = certificateOf(namespaceFolder() ?? "");
for (const hostname of [LINK_HOST, DENIED_HOST])
  Bun.serve({
    hostname,
    port: 443,
    idleTimeout: 0,
    tls: { key: Bun.file(key), cert: Bun.file(certificate) },
    fetch: linked,
  });

/**
 * Serves links: `/silent` never responds, `/slow` sends single bytes at long intervals, other paths return a picture.
 */
function linked(request: Request): Response | Promise<Response> {
  const { pathname } = new URL(request.url);
  if (pathname.startsWith("/silent")) return new Promise(() => {});
  if (!pathname.startsWith("/slow"))
    return new Response(PICTURE, { headers: { "content-type": "image/png" } });
  async function* drip(): AsyncGenerator<Uint8Array> {
    for (const byte of PICTURE) {
      yield Uint8Array.of(byte);
      await Bun.sleep(DRIP_MS);
    }
  }
  return new Response(drip() as never, { headers: { "content-type": "image/png" } });
}

console.log(JSON.stringify({ vendor: vendor.url.origin }));
