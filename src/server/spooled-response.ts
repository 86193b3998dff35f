import { holdsHandles, writeJson, type StreamedObject } from "../lib/json-stream.ts";
import { createSpool, type FilePool, type Spool } from "../lib/spool.ts";

export interface SpooledResponse {
  body: StreamedObject;
  headers: Record<string, string>;
}

/** Where what requests bring along goes, and the files of earlier ones to write over. */
export interface SpoolOptions {
  /** A folder on a local disk. */
  directory: string;
  filePool: FilePool;
}

/**
 * Gives `answer` a spool and sends what it says. The spool lasts as long as the answer needs it: to its last byte,
 * or until the caller has gone, or no longer than `answer` itself when that fails.
 */
export async function respondFromSpool(
  { directory, filePool }: SpoolOptions,
  { signal }: Request,
  handle: (spool: Spool) => Promise<SpooledResponse>,
): Promise<Response> {
  const spool = createSpool(directory, filePool);
  // What cannot be removed now is swept by a later start.
  const drop = async () => {
    await Promise.allSettled([spool[Symbol.asyncDispose]()]);
  };
  // Only after a good end it is certain that nobody reads the files any more.
  const retire = async () => {
    await Promise.allSettled([spool.retire()]);
  };
  try {
    const { body, headers } = await handle(spool);
    if (signal.aborted) {
      await drop();
      return new Response(null, { headers });
    }
    if (!holdsHandles(body)) {
      await retire();
      return new Response(JSON.stringify(body), { headers });
    }
    // Nobody reads the stream of a caller who goes before it was begun.
    signal.addEventListener("abort", drop, { once: true });
    return new Response(send(body, { retire, drop }), { headers });
  } catch (error) {
    await drop();
    throw error;
  }
}

/** The runtime copies a piece before it asks for the next, and asks only as fast as the caller takes them. */
async function* send(
  body: StreamedObject,
  { retire, drop }: { retire(): Promise<void>; drop(): Promise<void> },
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let isWhole = false;
  try {
    yield* writeJson(body);
    isWhole = true;
  } finally {
    await (isWhole ? retire() : drop());
  }
}
