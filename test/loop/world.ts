import { readFileSync, writeFileSync } from "node:fs";
import type { Socket } from "bun";
import { TEXT_DIALECTS } from "../../src/dialects/text.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import type { LoopVendor, LoopWorld } from "./case.ts";

/**
 * Number of models per dialect. There are many, because a model whose vendor fails repeatedly is not called for some
 * time.
 */
const MODELS = 64;
const turns = { next: 0 };

/** Returns a model with a vendor of this dialect. Calls use the models in turn. */
export function modelOver(dialect: string): string {
  turns.next = (turns.next + 1) % MODELS;
  return `over-${dialect}-${turns.next}`;
}

/** Starts the vendor, and a gateway with models of each dialect. */
export async function openWorld(): Promise<LoopWorld & AsyncDisposable> {
  const vendor = startVendor();
  const channel = (provider: string, path: string, settings?: object) => ({
    provider,
    base_url: `${vendor.url}${path}`,
    credential: { env: "VENDOR_KEY" },
    ...(settings && { settings }),
  });
  const model = (type: string, name: string, number = 0) => ({
    type,
    ...(type === "chat" && { max_output_tokens: 60_000, reasoning: "effort" }),
    ...(type === "embedding" && { dimensions: 1_536 }),
    price: { currency: "USD", per_million: { input: "1", ...(type === "chat" && { output: "2" }) } },
    route: { targets: [{ channel: name, upstream_model: `vendor-model-${number}` }] },
  });
  const gateway = await startTestGateway({
    yaml: Bun.YAML.stringify({
      routing: { max_attempts: 1, retry_floor: 1000 },
      channels: {
        chat: channel("openai", "/v1", { responses: false }),
        responses: channel("openai", "/v1", { responses: "only" }),
        messages: channel("anthropic", ""),
        native: channel("gemini", ""),
      },
      models: {
        ...Object.fromEntries(
          TEXT_DIALECTS.flatMap((name) =>
            Array.from({ length: MODELS }, (_, number) => [
              `over-${name}-${number}`,
              model("chat", name, number),
            ]),
          ),
        ),
        "over-embeddings": model("embedding", "chat"),
        "over-native-embeddings": model("embedding", "native"),
      },
    }),
    env: { VENDOR_KEY: "sk-loop", GATEWAY_LOG_LEVEL: "error" },
  });
  const opened = new AsyncDisposableStack();
  return {
    gateway,
    vendor,
    opened,
    async [Symbol.asyncDispose]() {
      await opened.disposeAsync();
      await gateway[Symbol.asyncDispose]();
      vendor.stop();
    },
  };
}

/** Returns a complete JSON response. */
export function* wholeAnswer(pieces: Iterable<string>): Generator<string> {
  const body = [...pieces].join("");
  yield `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`;
  yield body;
}

/** Returns a compressed JSON response, which is far smaller than its content. */
export function* compressedAnswer(body: Uint8Array<ArrayBuffer>): Generator<string | Uint8Array> {
  const bytes = Bun.gzipSync(body);
  yield `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-encoding: gzip\r\ncontent-length: ${bytes.length}\r\n\r\n`;
  yield bytes;
}

/** Returns a stream of events that ends with the connection. */
export function* streamAnswer(pieces: Iterable<string>): Generator<string> {
  yield "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
  yield* pieces;
}

/** Returns the stream of `streamAnswer` in chunks of one byte. */
export function* tinyChunks(pieces: Iterable<string>): Generator<string> {
  yield "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n";
  for (const piece of pieces) for (const character of piece) yield `1\r\n${character}\r\n`;
  yield "0\r\n\r\n";
}

/** State of a connection of the vendor: the received head of the request and the unsent part of the response. */
interface Talk {
  head: string;
  /** Number of missing bytes of the request's body; null until the head is complete. */
  left: number | null;
  answer: Iterator<string | Uint8Array> | null;
  unsent: Uint8Array;
}

const WRITE_BYTES = 64 * 1024;

function startVendor(): LoopVendor & { stop(): void } {
  const vendor = { answer: (): Iterable<string | Uint8Array> => [] };
  const server = Bun.listen<Talk>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open: (socket) => void (socket.data = { head: "", left: null, answer: null, unsent: new Uint8Array() }),
      data(socket, bytes) {
        const talk = socket.data;
        if (talk.left === null) {
          talk.head += bytes.toString("latin1");
          const end = talk.head.indexOf("\r\n\r\n");
          if (end < 0) return;
          const length = Number(/content-length: *(\d+)/i.exec(talk.head)?.[1] ?? 0);
          talk.left = length - (talk.head.length - end - 4);
        } else talk.left -= bytes.length;
        if (talk.left > 0 || talk.answer) return;
        talk.answer = vendor.answer()[Symbol.iterator]();
        write(socket);
      },
      drain: (socket) => write(socket),
      error: () => {},
    },
  });
  return Object.assign(vendor, { url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) });
}

function write(socket: Socket<Talk>): void {
  const talk = socket.data;
  while (talk.answer) {
    if (talk.unsent.length === 0) {
      const batch: Uint8Array[] = [];
      let bytes = 0;
      while (bytes < WRITE_BYTES) {
        const next = talk.answer.next();
        if (next.done) {
          if (bytes === 0) return void socket.end();
          break;
        }
        const piece = typeof next.value === "string" ? Buffer.from(next.value) : next.value;
        batch.push(piece);
        bytes += piece.length;
      }
      talk.unsent = Buffer.concat(batch);
    }
    const sent = socket.write(talk.unsent);
    if (sent < 0) return;
    talk.unsent = talk.unsent.subarray(sent);
    if (talk.unsent.length > 0) return;
  }
}

/** Returns the milliseconds for which a thread has run, and has waited for a processor. */
export function threadTimes(path: string): { ranMs: number; waitedMs: number } {
  const [ran = 0, waited = 0] = readFileSync(`${path}/schedstat`, "utf8").split(" ").map(Number);
  return { ranMs: ran / 1e6, waitedMs: waited / 1e6 };
}

/** Returns the path in `/proc` of the thread with the gateway's event loop. */
export function loopThread({ pid }: TestGateway): string {
  return `/proc/${pid}/task/${pid}`;
}

/** Resets the gateway's peak of memory to the current value. */
export function resetPeak({ pid }: TestGateway): void {
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
}
