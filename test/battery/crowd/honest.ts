/**
 * Fifty honest callers in a separate process: chats, streams, edits by link and by upload, and downloads. The argument
 * is a JSON object of type `HonestOrder`. Prints the results of all requests as `HonestFigures`.
 */
import { gradient, makePng } from "../../support/pictures.ts";
import { LINK_HOST } from "./network.ts";

export interface HonestOrder {
  url: string;
  key: string;
  seconds: number;
  /** Link to a stored picture. */
  link: string;
}

export type Kind = "chat" | "stream" | "link" | "upload" | "download";

/** Durations in milliseconds, and a sentence for each failure. */
export type HonestFigures = Record<Kind, { durations: number[]; failures: string[] }>;

/** Number of callers of each kind, fifty in total. */
const CALLERS: Record<Kind, number> = { chat: 18, stream: 12, link: 7, upload: 7, download: 6 };
const MIN_PAUSE_MS = 150;
const MORE_PAUSE_MS = 500;
/** Maximum wait, far longer than any honest request needs. */
const PATIENCE_MS = 30_000;
const PICTURE = makePng(320, 240, { pixel: gradient });

async function serveCrowd(order: HonestOrder): Promise<HonestFigures> {
  const kinds = Object.keys(CALLERS) as Kind[];
  const figures = Object.fromEntries(
    kinds.map((kind) => [kind, { durations: [], failures: [] }]),
  ) as unknown as HonestFigures;
  const endsAt = performance.now() + order.seconds * 1000;
  const callers = kinds.flatMap((kind) =>
    Array.from({ length: CALLERS[kind] }, async () => {
      while (performance.now() < endsAt) {
        await Bun.sleep(MIN_PAUSE_MS + Math.random() * MORE_PAUSE_MS);
        const startedAt = performance.now();
        const failure = await CALLS[kind](order).catch(String);
        figures[kind].durations.push(Math.round(performance.now() - startedAt));
        if (failure !== null) figures[kind].failures.push(`${kind}: ${failure}`);
      }
    }),
  );
  await Promise.all(callers);
  return figures;
}

/** Sends a request. Returns a description of the response's fault, or null for none. */
type Call = (order: HonestOrder) => Promise<string | null>;

const CALLS: Record<Kind, Call> = {
  chat: (order) => chat(order, false),
  stream: (order) => chat(order, true),
  link: (order) => edit(order, JSON.stringify({ ...EDIT, image: `https://${LINK_HOST}/a.png` }), JSON_TYPE),
  upload: (order) => edit(order, formOf(), { "x-input-image-compress": "true" }),
  async download({ link }) {
    const response = await fetch(link, { signal: AbortSignal.timeout(PATIENCE_MS) });
    const { byteLength } = await response.arrayBuffer();
    return response.status === 200 && byteLength > 0 ? null : `${response.status} with ${byteLength} bytes`;
  },
};

const JSON_TYPE = { "content-type": "application/json" };
const EDIT = { model: "crowd-image", prompt: "the same at night", response_format: "b64_json" };

async function chat(order: HonestOrder, stream: boolean): Promise<string | null> {
  const nonce = `nonce-${crypto.randomUUID().slice(0, 8)}`;
  const messages = [{ role: "user", content: `What is ${nonce}` }];
  const body = JSON.stringify({ model: "crowd-chat", max_tokens: 64, stream, messages });
  const { status, text } = await send(order, "/v1/chat/completions", body, JSON_TYPE);
  const isWhole = text.includes(nonce) && (!stream || text.trimEnd().endsWith("data: [DONE]"));
  return status === 200 && isWhole ? null : `${status} ${text.slice(-300)}`;
}

async function edit(
  order: HonestOrder,
  body: string | FormData,
  headers: Record<string, string>,
): Promise<string | null> {
  const { status, text } = await send(order, "/v1/images/edits", body, headers);
  return status === 200 && text.includes("b64_json") ? null : `${status} ${text.slice(0, 300)}`;
}

async function send(
  { url, key }: HonestOrder,
  path: string,
  body: string | FormData,
  headers: Record<string, string>,
): Promise<{ status: number; text: string }> {
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    body,
    headers: { authorization: `Bearer ${key}`, ...headers },
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  return { status: response.status, text: await response.text() };
}

function formOf(): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(EDIT)) form.append(name, value);
  form.append("image", new Blob([PICTURE], { type: "image/png" }), "a.png");
  return form;
}

if (import.meta.main) console.log(JSON.stringify(await serveCrowd(JSON.parse(process.argv[2] ?? "{}"))));
