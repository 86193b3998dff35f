import { type Cancellation, signalOf, sleep } from "../../lib/waiting.ts";

const FRAMES_PER_CHUNK = 16;
const MS_PER_SECOND = 1000;

interface Pace {
  /** Number of frames per second. Undefined means as fast as frames are read. */
  framesPerSecond: number | undefined;
  /** When this signal aborts, the stream fails with the signal's reason. */
  signal: Cancellation;
}

/**
 * Returns a stream of frames as bytes. Frames are made when they are read. With a pace, each frame is sent when it is
 * due. Without a pace, several frames are sent together.
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

/**
 * Returns the next frames as one text; null at the end. Continues after an empty frame, because a reader would treat an
 * empty text as the end.
 */
function takeFrames(frames: Iterator<string, void>, count: number): string | null {
  let text = "";
  for (let taken = 0; taken < count || text === ""; taken += 1) {
    const next = frames.next();
    if (next.done) return text === "" ? null : text;
    text += next.value;
  }
  return text;
}

/**
 * Returns a function that waits until the next frame is due. Due times count from the start of the stream, so that
 * delays of timers do not add up.
 */
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
