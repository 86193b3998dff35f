import { holdsHandles, writeJson, type StreamedObject } from "../../lib/json-spool.ts";
import { createSpool, type FilePool, type Spool } from "../../lib/spool.ts";
import { declaredLength, isPlain } from "./body.ts";
import type { AuthenticatedExchange } from "../http-exchange.ts";
import type { SpoolQuota } from "./resource-quota.ts";

interface SpooledResponse {
  body: StreamedObject;
  headers: Record<string, string>;
  /** The text before and after the body. With `frame`, the response is a stream whose only event is the body. */
  frame?: readonly [before: string, after: string];
}

/** The folder of temporary files, the pool of files to reuse, and the quota. */
export interface SpoolOptions {
  /** A folder on a local disk. */
  directory: string;
  filePool: FilePool;
  quota: SpoolQuota;
}

/**
 * Runs `handle` with a spool and sends the response that `handle` returns. The spool exists until the last byte is
 * sent, the client disconnects, or `handle` fails.
 */
export async function respondFromSpool(
  { directory, filePool, quota }: SpoolOptions,
  exchange: AuthenticatedExchange,
  handle: (spool: Spool) => Promise<SpooledResponse>,
): Promise<Response> {
  const { request, claimOutcome } = exchange;
  const { signal } = request;
  const declaredBytes = isPlain(request) ? (declaredLength(request) ?? 0) : 0;
  const spool = createSpool(directory, filePool, quota.open(exchange, declaredBytes));
  // Files that cannot be removed now are removed at the next start.
  const drop = async () => {
    await Promise.allSettled([spool[Symbol.asyncDispose]()]);
  };
  // Lets later requests reuse the files, which is safe after a complete response, because nobody reads them any more.
  const retire = async () => {
    await Promise.allSettled([spool.retire()]);
  };
  try {
    const { body, headers, frame = ["", ""] } = await handle(spool);
    // With an idempotency key, the outcome is stored even if the client has disconnected.
    if (signal.aborted && !claimOutcome) {
      await drop();
      return new Response(null, { headers });
    }
    if (!holdsHandles(body)) {
      await retire();
      return new Response(frame.join(JSON.stringify(body)), { headers });
    }
    // The abort drops the files, because the runtime never reads a stream whose client disconnects before it begins.
    signal.addEventListener("abort", drop, { once: true });
    return new Response(send({ body, frame }, { retire, drop }), { headers });
  } catch (error) {
    await drop();
    throw error;
  }
}

/** Yields the body in pieces. The runtime copies each piece, and requests the next when the client has read it. */
async function* send(
  { body, frame: [before, after] }: Required<Pick<SpooledResponse, "body" | "frame">>,
  { retire, drop }: { retire(): Promise<void>; drop(): Promise<void> },
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let isWhole = false;
  try {
    if (before !== "") yield Buffer.from(before);
    yield* writeJson(body);
    if (after !== "") yield Buffer.from(after);
    isWhole = true;
  } finally {
    await (isWhole ? retire() : drop());
  }
}
