import { expect, test } from "bun:test";
import type { ImageReply } from "../../domain/image.ts";
import { UpstreamError, type UpstreamErrorKind } from "../../domain/upstream-error.ts";
import { fanOut, type Generate } from "./fan-out.ts";

const usage = { input: 2, output: 3, total: 5 };
const reply = (): ImageReply => ({ images: [new Blob(["x"])], usage });
const failure = (kind: UpstreamErrorKind) => new UpstreamError(kind, kind);
const never = new AbortController().signal;

/** Returns a function whose calls have these outcomes in this order. Later calls succeed. */
function script(...outcomes: (ImageReply | Error)[]): Generate {
  return async () => {
    const outcome = outcomes.shift();
    if (outcome instanceof Error) throw outcome;
    return outcome ?? reply();
  };
}

test("every call's images are delivered and its usage is summed", async () => {
  const { images, usage } = await fanOut(3, script(), never);
  expect([images.length, usage]).toEqual([3, { input: 6, output: 9, total: 15 }]);
});

test("pictures that succeeded are delivered when other calls fail or are refused", async () => {
  const generate = script(failure("refused"), reply(), failure("overloaded"), reply());
  expect((await fanOut(4, generate, never)).images).toHaveLength(2);
});

test("usage is unknown when a call did not report it", async () => {
  expect((await fanOut(2, script({ images: [new Blob()] }, reply()), never)).usage).toBeUndefined();
});

test("a refusal is thrown only when every call was refused", async () => {
  const mixed = script(failure("refused"), failure("limited"));
  await expect(fanOut(2, mixed, never)).rejects.toMatchObject({ kind: "limited" });
  const all = script(failure("refused"), failure("refused"));
  await expect(fanOut(2, all, never)).rejects.toMatchObject({ kind: "refused" });
});

test("a bug ends the other calls and is thrown", async () => {
  const aborted = Promise.withResolvers<void>();
  let calls = 0;
  const generate: Generate = async (signal) => {
    if (calls++ === 0) throw new TypeError("bug");
    return await untilAborted(signal).finally(aborted.resolve);
  };
  await expect(fanOut(2, generate, never)).rejects.toThrow(new TypeError("bug"));
  await aborted.promise;
});

test("an abort ends the other calls and keeps what succeeded before", async () => {
  const caller = new AbortController();
  let calls = 0;
  const generate: Generate = async (signal) => (calls++ === 0 ? reply() : await untilAborted(signal));
  const drawn = fanOut(3, generate, caller.signal);
  await Promise.resolve();
  caller.abort(new Error("aborted"));
  expect((await drawn).images).toHaveLength(1);
});

test("an abort before anything was made throws its own reason", async () => {
  const caller = new AbortController();
  const drawn = fanOut(2, untilAborted, caller.signal);
  const reason = new Error("aborted");
  caller.abort(reason);
  await expect(drawn).rejects.toBe(reason);
});

async function untilAborted(signal: AbortSignal): Promise<ImageReply> {
  return await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
}
