import { holdsHandles, streamJson, type StreamedObject } from "../lib/json-stream.ts";
import { createSpool, type Spool } from "../lib/spool.ts";

export interface SpooledAnswer {
  body: StreamedObject;
  headers: Record<string, string>;
}

/**
 * Gives `answer` a spool in `directory` and sends what it says. The spool lasts as long as the answer needs it:
 * to its last byte, or until the caller has gone, or no longer than `answer` itself when that fails.
 */
export async function answerFromSpool(
  directory: string,
  { signal }: Request,
  answer: (spool: Spool) => Promise<SpooledAnswer>,
): Promise<Response> {
  const spool = createSpool(directory);
  // What cannot be removed now is swept by a later start.
  const release = async () => {
    await Promise.allSettled([spool[Symbol.asyncDispose]()]);
  };
  try {
    const { body, headers } = await answer(spool);
    if (!signal.aborted && holdsHandles(body)) {
      // Nobody reads the stream of a caller who goes before it was begun.
      signal.addEventListener("abort", release, { once: true });
      return new Response(streamJson(body, release), { headers });
    }
    await release();
    return new Response(signal.aborted ? null : JSON.stringify(body), { headers });
  } catch (error) {
    await release();
    throw error;
  }
}
