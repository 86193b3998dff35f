import { type Cancellation, signalOf, sleep } from "../../lib/waiting.ts";

const FRAMES_PER_CHUNK = 16;
const MS_PER_SECOND = 1000;

interface Pace {
  /** Frames a second; undefined sends as fast as they are read. */
  framesPerSecond: number | undefined;
  /** Ends the stream with its reason. */
  signal: Cancellation;
}

/**
 * Sends frames as bytes, made only as they are read. Without a pace several frames go in one chunk; with one, each
 * goes when it is due.
 */
export function streamFrames(
  frames: Iterator<string, void>,
  pace: Pace,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  const cancelled = new AbortController();
  const signal = AbortSignal.any([signalOf(pace.signal), cancelled.signal]);
  const wait = createPace(pace.framesPerSecond, signal);
  const perChunk = pace.framesPerSecond === undefined ? FRAMES_PER_CHUNK : 1;
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        try {
          signal.throwIfAborted();
          await wait?.();
          const text = takeFrames(frames, perChunk);
          if (text === null) controller.close();
          else controller.enqueue(encoder.encode(text));
        } catch (reason) {
          controller.error(reason);
        }
      },
      cancel(reason) {
        cancelled.abort(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

/** Returns the next frames joined; null at the end. A frame may be empty, which a reader would take for the end. */
function takeFrames(frames: Iterator<string, void>, count: number): string | null {
  let text = "";
  for (let taken = 0; taken < count || text === ""; taken += 1) {
    const next = frames.next();
    if (next.done) return text === "" ? null : text;
    text += next.value;
  }
  return text;
}

/** Waits until the next frame is due, counted from the first, so that late timers do not add up. */
function createPace(
  framesPerSecond: number | undefined,
  signal: AbortSignal,
): (() => Promise<void>) | undefined {
  if (framesPerSecond === undefined) return undefined;
  let due = performance.now();
  return async () => {
    due += MS_PER_SECOND / framesPerSecond;
    const waitMs = due - performance.now();
    if (waitMs > 0) await sleep(waitMs, signal);
  };
}
