import { findBalancer, startPlainBalancer } from "../support/balancers.ts";
import { until } from "../support/gateway.ts";
import { CHAT, openGatewayFixture } from "../support/vendor.ts";

/* A vendor that is silent before its first content, behind nginx and HAProxy with the documents' configuration. */

interface Silence {
  /** Duration of the vendor's silence. */
  seconds: number;
  /** Timeouts of the gateway and of the balancers. By default, each program's own. */
  firstByteSeconds?: number;
  readSeconds?: number;
}

/** A stream as the client received it through a balancer. */
export interface SilentStream {
  name: string;
  status: number;
  text: string;
  /** Milliseconds until the response began. */
  beganMs: number;
}

const messages = (content: string) => [{ role: "user", content }];

/** The request of each protocol, by path. */
const REQUESTS: Record<string, (content: string) => object> = {
  "/v1/chat/completions": (content) => ({ model: CHAT, stream: true, messages: messages(content) }),
  "/v1/messages": (content) => ({ model: CHAT, stream: true, max_tokens: 99, messages: messages(content) }),
  "/v1/responses": (content) => ({ model: CHAT, stream: true, input: content }),
  [`/v1beta/models/${CHAT}:streamGenerateContent?alt=sse`]: (content) => ({
    contents: [{ role: "user", parts: [{ text: content }] }],
  }),
};

/** Sends a stream of each protocol through each balancer. All streams run at the same time. */
export async function streamsOfSilence({
  seconds,
  firstByteSeconds,
  readSeconds,
}: Silence): Promise<SilentStream[]> {
  const waitMs = (seconds + 60) * 1000;
  await using fixture = await openGatewayFixture({
    firstByteMs: waitMs,
    totalMs: waitMs,
    ...(firstByteSeconds !== undefined && { firstByteSeconds }),
  });
  const { gateway } = fixture;
  await using stack = new AsyncDisposableStack();
  const streams: Promise<SilentStream>[] = [];
  for (const name of ["nginx", "haproxy"] as const) {
    const found = findBalancer(name);
    if ("missing" in found) throw new Error(found.missing);
    const { port } = new URL(gateway.url);
    const balancer = stack.use(await startPlainBalancer(name, found.binary, port, readSeconds));
    await until(
      name,
      async () => (await fetch(`${balancer.url}/healthz`).catch(() => null))?.ok || undefined,
    );
    for (const [path, body] of Object.entries(REQUESTS)) {
      const startedAt = performance.now();
      const sent = fetch(balancer.url + path, {
        method: "POST",
        headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
        body: JSON.stringify(body(`[[reply delayMs=${seconds * 1000} tokens=5]]`)),
      });
      streams.push(
        sent.then(async (response) => ({
          name: `${name} ${path}`,
          status: response.status,
          beganMs: performance.now() - startedAt,
          text: await response.text(),
        })),
      );
    }
  }
  return await Promise.all(streams);
}

/** Matches the end of a complete stream, in any protocol. */
export const WHOLE = /data: \[DONE\]|"type":"message_stop"|"type":"response.completed"|"finishReason":"STOP"/;

if (import.meta.main) {
  const seconds = Number(process.argv[2] ?? 150);
  const streams = await streamsOfSilence({ seconds });
  let isBroken = false;
  for (const { name, status, text, beganMs } of streams) {
    const isWhole = status === 200 && WHOLE.test(text);
    isBroken ||= !isWhole;
    console.log(
      `${isWhole ? "whole" : `BROKEN (${status})`}  began after ${Math.round(beganMs)} ms  ${name}`,
    );
  }
  process.exit(isBroken ? 1 : 0);
}
