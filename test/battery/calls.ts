import { IMAGE_MODEL, chatBody } from "../support/fleet.ts";
import type { Behaviour, Fault } from "../upstreams/behaviour.ts";
import type { Hit } from "../upstreams/simulator.ts";

/** Keys of a mix. `ample` has a large budget, `narrow` a small budget and `limited` a low limit of requests. */
export type KeyName = "ample" | "narrow" | "limited";

/** A request with the behaviour of the vendors that serve it. */
export interface Call {
  /** The request's `X-Request-Id`. The prompt repeats the id, so that vendors can record it. */
  id: string;
  kind: "whole" | "stream" | "image";
  key: KeyName;
  /** Number of tokens in the complete response. */
  tokens: number;
  frameDelayMs: number;
  /** Fault of a route's first vendor. */
  fault: Fault | null;
  /** Number of frames or bytes that precede a fault in the middle of a response. */
  after: number;
  /** Wrong usage report of every vendor except the first. */
  misreport: Fault | null;
  /** Milliseconds until the client disconnects; null means never. */
  hangUpMs: number | null;
}

/** The result of a call as the client saw it. */
export interface Outcome {
  call: Call;
  /** Index of the machine that was called. Null when a balancer chose the machine. */
  machine: number | null;
  /** Unix milliseconds. */
  startedAt: number;
  endedAt: number;
  /**
   * `whole`: a complete successful response. `refused`: an error response of the gateway. `cut`: a stream that the
   * gateway ended with an error. `lost`: the connection broke, or the balancer found no machine. `left`: the client
   * disconnected. `silent`: no bytes arrived for `SILENCE_MS`.
   */
  end: "whole" | "refused" | "cut" | "lost" | "left" | "silent";
  detail: string;
  /** Number of content tokens that the client received. */
  tokens: number;
  /** Completion tokens in the received usage report; null without a report. */
  reported: number | null;
  pictures: number;
}

/** Maximum of output tokens in a chat request. */
export const MAX_TOKENS = 64;
const SILENCE_MS = 30_000;
/** A text that counts as one token, both at the vendor and in the gateway's estimate. */
const WORD = "abcd";

/** Faults that occur after some content of a response. */
export const CUTS: readonly Fault[] = [
  "truncated",
  "reset-midway",
  "close-midway",
  "stall-midway",
  "error-frame-later",
];
const WHOLE_FAULTS: readonly Fault[] = [
  "reset-before-headers",
  "close-before-headers",
  "stall",
  "garbage",
  "html",
  "empty",
  "truncated",
  "reset-midway",
  "close-midway",
  "stall-midway",
  "rate-limited",
  "error-status",
  "content-refused",
  "error-in-200",
  "choices-null",
  "choices-missing",
];
const STREAM_FAULTS: readonly Fault[] = [
  "reset-before-headers",
  "close-before-headers",
  "stall",
  "html",
  "empty",
  "error-status",
  "error-frame-first",
  "content-refused",
  "rate-limited",
  ...CUTS,
];
const IMAGE_FAULTS: readonly Fault[] = [
  "reset-before-headers",
  "close-before-headers",
  "stall",
  "html",
  "error-status",
  "no-images",
  "bad-base64",
  "truncated",
  "rate-limited",
];
const MISREPORTS: readonly Fault[] = [
  "no-usage",
  "usage-null",
  "usage-strings",
  "usage-negative",
  "usage-huge",
  "usage-float",
];
const FAULTS = { whole: WHOLE_FAULTS, stream: STREAM_FAULTS, image: IMAGE_FAULTS };

export function makeCall(id: string, random: () => number): Call {
  const kinds = ["whole", "whole", "whole", "stream", "stream", "stream", "stream", "stream"] as const;
  const kind = random() < 0.04 ? "image" : pick(kinds, random);
  const share = random();
  return {
    id,
    kind,
    key: kind === "image" || share < 0.7 ? "ample" : share < 0.9 ? "narrow" : "limited",
    tokens: 1 + Math.floor(random() * 40),
    frameDelayMs: random() < 0.1 ? 10 : 2,
    fault: random() < 0.25 ? pick(FAULTS[kind], random) : null,
    after: Math.floor(random() * 8),
    misreport: random() < 0.2 ? pick(MISREPORTS, random) : null,
    hangUpMs: random() < 0.06 ? Math.floor(random() * 150) : null,
  };
}

/** Returns a vendor's behaviour for a call. A route's first vendor may fail, later vendors may misreport usage. */
export function behaviourOf({ fault, misreport, ...call }: Call, vendor: number): Behaviour {
  const own = vendor === 0 ? fault : call.kind === "image" ? null : misreport;
  return {
    ...(own && { fault: own }),
    ...(own && CUTS.includes(own) && { after: call.after }),
    status: 503,
    retryAfter: "1",
    tokens: call.tokens,
    text: WORD.repeat(call.tokens),
    frameDelayMs: call.frameDelayMs,
  };
}

export function callIdOf(hit: Pick<Hit, "body">): string {
  return /id=([\w-]+)/.exec(hit.body.toString("latin1", 0, 4_096))?.[1] ?? "";
}

/** Sends a call and reads the response to its end. */
export async function send(
  call: Call,
  url: string,
  secret: string,
): Promise<Omit<Outcome, "machine" | "startedAt" | "endedAt">> {
  const hangUp = new AbortController();
  const timer = call.hangUpMs === null ? null : setTimeout(() => hangUp.abort(), call.hangUpMs);
  const silence = AbortSignal.timeout(SILENCE_MS);
  const arrived = { text: "", status: 0, isFromGateway: false };
  const outcome = (end: Outcome["end"], detail: string) => ({ call, end, detail, ...read(arrived.text) });
  try {
    const response = await fetch(`${url}${call.kind === "image" ? IMAGE_PATH : CHAT_PATH}`, {
      method: "POST",
      keepalive: false,
      headers: {
        authorization: `Bearer ${secret}`,
        "content-type": "application/json",
        "x-request-id": call.id,
      },
      body: JSON.stringify(bodyOf(call)),
      signal: AbortSignal.any([hangUp.signal, silence]),
    });
    arrived.status = response.status;
    arrived.isFromGateway = response.headers.has("x-gateway-request-id");
    const decoder = new TextDecoder();
    for await (const bytes of response.body ?? []) arrived.text += decoder.decode(bytes, { stream: true });
  } catch (error) {
    if (hangUp.signal.aborted) return outcome("left", "");
    return silence.aborted ? outcome("silent", `after ${SILENCE_MS} ms`) : outcome("lost", String(error));
  } finally {
    if (timer) clearTimeout(timer);
  }
  const { status, text } = arrived;
  if (!arrived.isFromGateway) return outcome("lost", `${status} of the balancer`);
  if (status !== 200) return outcome("refused", `${status} ${codeOf(text)}`);
  const isWhole = call.kind === "stream" ? text.endsWith("data: [DONE]\n\n") : isJson(text);
  return outcome(isWhole ? "whole" : "cut", isWhole ? "" : text.slice(-200));
}

const CHAT_PATH = "/v1/chat/completions";
const IMAGE_PATH = "/v1/images/generations";

function bodyOf({ id, kind }: Call): object {
  const prompt = `id=${id}`;
  if (kind === "image") return { model: IMAGE_MODEL, prompt, size: "1024x640", output_format: "jpeg" };
  return chatBody({ prompt, tokens: MAX_TOKENS, isStream: kind === "stream" });
}

function read(text: string): Pick<Outcome, "tokens" | "reported" | "pictures"> {
  const reported = /.*"completion_tokens":\s*(\d+)/s.exec(text)?.[1];
  const words = text.matchAll(/"content":"((?:abcd)*)"/g);
  return {
    tokens: words.reduce((sum, [, content = ""]) => sum + content.length / WORD.length, 0),
    reported: reported === undefined ? null : Number(reported),
    pictures: [...text.matchAll(/"url":/g)].length,
  };
}

function codeOf(text: string): string {
  return /"code":\s*"(\w+)"/.exec(text)?.[1] ?? text.slice(0, 100);
}

function isJson(text: string): boolean {
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}

export function pick<T>(items: readonly T[], random: () => number): T {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error("there is nothing to pick from");
  return item;
}
