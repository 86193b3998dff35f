import { frameData, FrameSplitter } from "../../../lib/sse.ts";

/**
 * Writes the events of a stream as one JSON array, piece by piece. Callers without `alt=sse` get this form. Keep-alive
 * frames become white space. An error becomes the last item, even if it arrives as plain JSON and not as an event.
 */
export function asJsonArray(events: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const splitter = new FrameSplitter();
  const reader = events.getReader();
  let before = "[";
  const write = (frames: readonly Uint8Array[]): string => {
    let text = "";
    for (const frame of frames) {
      const data = frameData(frame) ?? bareError(frame);
      text += data === null || data === "" ? "\n" : `${before}${data}`;
      if (data) before = ",\n";
    }
    return text;
  };
  return new ReadableStream({
    async pull(client) {
      // Reads until there is a whole event, because the runtime does not call `pull` again if nothing was enqueued.
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        const text = write(splitter.push(value));
        if (text !== "") return client.enqueue(Buffer.from(text));
      }
      const rest = write([splitter.end()]).trimEnd();
      client.enqueue(Buffer.from(before === "[" ? `${rest}[]` : `${rest}]`));
      client.close();
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

const BRACE = 0x7b;

/** Returns the text of an error that was sent instead of a stream; null for other frames. */
function bareError(frame: Uint8Array): string | null {
  return frame[0] === BRACE ? Buffer.from(frame).toString() : null;
}
