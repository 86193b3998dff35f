import { type ThreadScript, threadScript } from "../lib/program-files.ts";
import { untilAborted, withDeadline } from "../lib/waiting.ts";
import { UNDECODABLE, UnreadableImageError } from "./header-reader.ts";

/** The only message that a thread for one picture sends. */
export type PictureReply = { png: Uint8Array<ArrayBuffer> } | { problem: string };

/**
 * Starts a thread for one picture, sends the request to the thread and returns the thread's PNG. The third argument is
 * a part of the request, and the buffer of this part is transferred. The thread then ends, which frees all of its
 * memory. Throws an `UnreadableImageError`.
 */
export async function pngFromThread(
  script: ThreadScript,
  request: object,
  { buffer }: Uint8Array,
  signal: AbortSignal | undefined,
): Promise<Blob> {
  const thread = new Worker(threadScript(script));
  try {
    const { promise, resolve, reject } = Promise.withResolvers<PictureReply>();
    thread.onmessage = ({ data }: MessageEvent<PictureReply>) => resolve(data);
    thread.onerror = ({ message }) => reject(new Error(message));
    thread.postMessage(request, buffer instanceof ArrayBuffer ? [buffer] : []);
    const working = withDeadline(MAX_MS, promise, () => new Error("takes too long"));
    const reply = await (signal ? untilAborted(working, signal) : working);
    if ("png" in reply) return new Blob([reply.png]);
    throw new Error(reply.problem);
  } catch (cause) {
    signal?.throwIfAborted();
    throw new UnreadableImageError(UNDECODABLE, { cause });
  } finally {
    thread.terminate();
  }
}

/** Maximum time for one picture: so long that a busy machine also finishes the largest picture. */
const MAX_MS = 120_000;
