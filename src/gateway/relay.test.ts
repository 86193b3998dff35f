import { describe, expect, test } from "bun:test";
import { setImmediate } from "node:timers/promises";
import { openStream } from "../dialects/chat/stream.ts";
import { KEEP_ALIVE_FRAME } from "../dialects/sse/vendor-frames.ts";
import { policyFor } from "../../test/support/usage-policy.ts";
import { UpstreamError } from "../domain/upstream-error.ts";
import { DeadlineTimer } from "../lib/deadline-timer.ts";
import { sleep } from "../lib/waiting.ts";
import type { ByteReader } from "../lib/byte-stream.ts";
import { bodyOf, relay, type StreamEnd } from "./relay.ts";
import { Call, ClientDisconnected } from "./routing/call.ts";

const event = (data: object): Uint8Array<ArrayBuffer> => Buffer.from(`data: ${JSON.stringify(data)}\n\n`);
const word = (content: string, finish_reason: string | null = null): Uint8Array<ArrayBuffer> =>
  event({ id: "c", model: "m", choices: [{ index: 0, delta: { content }, finish_reason }] });
const DONE = Buffer.from("data: [DONE]\n\n");

/** Returns an upstream that sends these chunks. Then it ends, or is silent until the call is aborted. */
function upstream(
  chunks: readonly Uint8Array<ArrayBuffer>[],
  { signal }: Call,
  isEndless = false,
): ByteReader & { reads: number } {
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  aborted.catch(() => {});
  return {
    reads: 0,
    async read() {
      signal.throwIfAborted();
      const value = chunks[this.reads++];
      if (value) return { done: false, value };
      return isEndless ? aborted : { done: true };
    },
  };
}

interface StartOptions {
  isEndless?: boolean;
  isDetachable?: boolean;
  idleMs?: number;
  isCheckpointBroken?: boolean;
  settling?: Promise<void>;
  /** True when the client disconnects before it reads the body. */
  isDisconnected?: boolean;
}

function start(chunks: readonly Uint8Array<ArrayBuffer>[], options: StartOptions = {}) {
  const deadlineTimer = new DeadlineTimer(5);
  const client = new AbortController();
  if (options.isDisconnected) client.abort();
  const call = new Call(deadlineTimer, new AbortController().signal, 5_000);
  call.stopExpecting();
  const ended = Promise.withResolvers<StreamEnd>();
  const ends: StreamEnd[] = [];
  const checkpoints: number[] = [];
  const checkpointed = Promise.withResolvers<void>();
  const reader = upstream(chunks, call, options.isEndless);
  const stream = openStream("m", policyFor(10));
  const writer = relay({
    reader,
    stream,
    head: new Uint8Array(0),
    keepAliveFrame: KEEP_ALIVE_FRAME,
    call,
    clientSignal: client.signal,
    deadlineTimer,
    idleMs: options.idleMs ?? 30,
    isDetachable: options.isDetachable ?? false,
    isKept: false,
    refine: () => null,
    settling: () => options.settling,
    checkpoint: () => {
      checkpoints.push(stream.usage().tokens.output ?? 0);
      checkpointed.resolve();
      if (options.isCheckpointBroken) throw new Error("no entry");
    },
    end: (how) => {
      ends.push(how);
      ended.resolve(how);
      return how.kind === "cut" ? event({ error: "told" }) : null;
    },
  });
  const body = bodyOf(writer);
  return { body, reader, call, ends, ended: ended.promise, checkpoints, checkpointed: checkpointed.promise };
}

describe("a relayed stream", () => {
  test("arrives complete with its ending, and is settled once before that", async () => {
    const { body, ends } = start([word("a"), word("b"), word("", "stop"), DONE]);
    const text = await new Response(body).text();
    expect(text).toContain('"content":"b"');
    expect(text).toEndWith("data: [DONE]\n\n");
    expect(ends).toEqual([{ kind: "complete", isClientDisconnected: false }]);
  });

  test.each([[[word("a"), word("", "stop"), DONE]], [[word("a")]]])(
    "sends its ending once that has been waited for",
    async (chunks) => {
      const { promise: settling, resolve } = Promise.withResolvers<void>();
      const { body, ended } = start(chunks, { settling });
      const text = new Response(body).text();
      await ended;
      expect(await Promise.race([text, setImmediate("waits")])).toBe("waits");
      resolve();
      expect(await text).toMatch(/(DONE\]|\{"error":"told"\})\n\n$/);
    },
  );

  test("that is cut ends with the error event and without the ending", async () => {
    const { body, ends } = start([word("a"), word("b")]);
    expect(await new Response(body).text()).toEndWith('data: {"error":"told"}\n\n');
    expect(ends).toMatchObject([{ kind: "cut", isClientDisconnected: false, error: { kind: "broken" } }]);
  });

  test("that falls silent ends as a timeout", async () => {
    const { body, call, ends } = start([word("a")], { isEndless: true });
    expect(await new Response(body).text()).toEndWith('data: {"error":"told"}\n\n');
    expect(ends).toMatchObject([{ kind: "cut", error: { kind: "timeout", isAmbiguous: true } }]);
    expect(call.signal.reason).toBeInstanceOf(UpstreamError);
  });

  test("is read no faster than the client reads", async () => {
    const chunks = Array.from({ length: 1000 }, () => word("x".repeat(4096)));
    const { body, reader } = start(chunks, { isEndless: true });
    const caller = body.getReader();
    await caller.read();
    await Bun.sleep(60);
    // The wait exceeds the maximum silence of an upstream. But silence is not measured while the client does not read.
    expect(reader.reads).toBeLessThan(100);
    expect((await caller.read()).done).toBe(false);
    await caller.cancel();
  });
});

test("a stream that bursts and stalls has a checkpoint of everything it sent, and no second one", async () => {
  const texts = Array.from({ length: 50 }, () => word("x".repeat(400)));
  const { body, checkpoints, checkpointed } = start(texts, { isEndless: true, idleMs: 2_400 });
  const text = new Response(body).text();
  await checkpointed;
  expect(checkpoints).toEqual([50 * 100]);
  await text;
  expect(checkpoints).toEqual([50 * 100]);
});

test("a checkpoint that cannot be made ends the stream and nothing else", async () => {
  const { body, ends } = start([word("a")], { isEndless: true, isCheckpointBroken: true });
  expect(await new Response(body).text()).toEndWith('data: {"error":"told"}\n\n');
  expect(ends).toMatchObject([{ kind: "cut", isClientDisconnected: false }]);
});

describe("when the client disconnects", () => {
  test("the call is aborted and what was delivered is settled", async () => {
    const { body, call, ended, ends } = start([word("a")], { isEndless: true });
    const caller = body.getReader();
    await caller.read();
    await caller.cancel();
    expect(await ended).toMatchObject({ kind: "cut", isClientDisconnected: true });
    expect(call.signal.reason).toBeInstanceOf(ClientDisconnected);
    // The aborted read fails during this pause.
    await sleep(1);
    expect(ends).toHaveLength(1);
  });

  test("a detachable response is still read to its end", async () => {
    const chunks = [...Array.from({ length: 200 }, () => word("x".repeat(4096))), word("", "stop"), DONE];
    const { body, ended, reader } = start(chunks, { isDetachable: true });
    const caller = body.getReader();
    await caller.read();
    await caller.cancel();
    expect(await ended).toEqual({ kind: "complete", isClientDisconnected: true });
    expect(reader.reads).toBeGreaterThanOrEqual(chunks.length);
  });

  test.each([
    ["aborted", false, { kind: "cut", isClientDisconnected: true }],
    ["read to its end", true, { kind: "complete", isClientDisconnected: true }],
  ] as const)("before it could read the body, the call is %s", async (_, isDetachable, end) => {
    const chunks = [word("a"), word("b", "stop"), DONE];
    const { ended, ends } = start(chunks, { isDetachable, isDisconnected: true, idleMs: 5_000 });
    expect(await ended).toMatchObject(end);
    expect(ends).toHaveLength(1);
  });

  test("before it reads the body, the response is settled after the longest silence", async () => {
    const { ended } = start([word("a")], { isEndless: true });
    expect(await ended).toMatchObject({ kind: "cut", error: { kind: "timeout" } });
  });
});
