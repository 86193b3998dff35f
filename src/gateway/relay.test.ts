import { describe, expect, test } from "bun:test";
import { ChatStream } from "../dialects/chat/index.ts";
import { policyFor } from "../../test/support/usage-policy.ts";
import { UpstreamError } from "../domain/upstream-error.ts";
import { DeadlineTimer } from "../lib/deadline-timer.ts";
import { relay, type ByteReader, type StreamEnd } from "./relay.ts";
import { Call, ClientDisconnected } from "./routing/call.ts";

const event = (data: object): Uint8Array => Buffer.from(`data: ${JSON.stringify(data)}\n\n`);
const word = (content: string, finish_reason: string | null = null): Uint8Array =>
  event({ id: "c", model: "m", choices: [{ index: 0, delta: { content }, finish_reason }] });
const DONE = Buffer.from("data: [DONE]\n\n");

/** An upstream that says these chunks and then ends, or is silent until the call is aborted. */
function upstream(
  chunks: readonly Uint8Array[],
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

function start(chunks: readonly Uint8Array[], options: { isEndless?: boolean; isDetachable?: boolean } = {}) {
  const deadlineTimer = new DeadlineTimer(5);
  const call = new Call(deadlineTimer, new AbortController().signal, 5_000);
  call.settle();
  const ended = Promise.withResolvers<StreamEnd>();
  const ends: StreamEnd[] = [];
  const reader = upstream(chunks, call, options.isEndless);
  const body = relay({
    reader,
    stream: new ChatStream("m", policyFor(10)),
    head: new Uint8Array(0),
    call,
    deadlineTimer,
    idleMs: 30,
    isDetachable: options.isDetachable ?? false,
    checkpoint: () => {},
    end: (how) => {
      ends.push(how);
      ended.resolve(how);
      return how.kind === "cut" ? event({ error: "told" }) : null;
    },
  });
  return { body, reader, call, ends, ended: ended.promise };
}

describe("a relayed answer", () => {
  test("arrives whole with its ending, and is settled once before that", async () => {
    const { body, ends } = start([word("a"), word("b"), word("", "stop"), DONE]);
    const text = await new Response(body).text();
    expect(text).toContain('"content":"b"');
    expect(text).toEndWith("data: [DONE]\n\n");
    expect(ends).toEqual([{ kind: "complete", isClientDisconnected: false }]);
  });

  test("that is cut ends with the error event and without the ending", async () => {
    const { body, ends } = start([word("a"), word("b")]);
    expect(await new Response(body).text()).toEndWith('data: {"error":"told"}\n\n');
    expect(ends).toMatchObject([{ kind: "cut", isClientDisconnected: false, error: { kind: "broken" } }]);
  });

  test("that falls silent is given up as a timeout", async () => {
    const { body, call, ends } = start([word("a")], { isEndless: true });
    expect(await new Response(body).text()).toEndWith('data: {"error":"told"}\n\n');
    expect(ends).toMatchObject([{ kind: "cut", error: { kind: "timeout", isAmbiguous: true } }]);
    expect(call.signal.reason).toBeInstanceOf(UpstreamError);
  });

  test("is read no faster than the caller reads", async () => {
    const chunks = Array.from({ length: 1000 }, () => word("x".repeat(4096)));
    const { body, reader } = start(chunks, { isEndless: true });
    const caller = body.getReader();
    await caller.read();
    await Bun.sleep(60);
    // Longer than the longest silence: waiting for the caller is not held against the upstream.
    expect(reader.reads).toBeLessThan(100);
    expect((await caller.read()).done).toBe(false);
    await caller.cancel();
  });
});

describe("when the caller hangs up", () => {
  test("the call is aborted and what was said is settled", async () => {
    const { body, call, ended } = start([word("a")], { isEndless: true });
    const caller = body.getReader();
    await caller.read();
    await caller.cancel();
    expect(await ended).toMatchObject({ kind: "cut", isClientDisconnected: true });
    expect(call.signal.reason).toBeInstanceOf(ClientDisconnected);
  });

  test("a drained answer is still read to its end", async () => {
    const chunks = [...Array.from({ length: 200 }, () => word("x".repeat(4096))), word("", "stop"), DONE];
    const { body, ended, reader } = start(chunks, { isDetachable: true });
    const caller = body.getReader();
    await caller.read();
    await caller.cancel();
    expect(await ended).toEqual({ kind: "complete", isClientDisconnected: true });
    expect(reader.reads).toBeGreaterThanOrEqual(chunks.length);
  });

  test("before the body was ever asked for, the answer is settled after the longest silence", async () => {
    const { ended } = start([word("a")], { isEndless: true });
    expect(await ended).toMatchObject({ kind: "cut", error: { kind: "timeout" } });
  });
});
