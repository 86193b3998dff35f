// Reads server-sent events as text (WHATWG HTML, "Server-sent events"), where the bytes are not needed. This file also
// runs in browsers.

const LINE_END = /\r\n|\n|\r/;

/** Yields the data of each event of a response as it arrives. Skips comments, which keep a connection open. */
export async function* readEventData(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  // Some browsers cannot iterate over streams.
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      // A carriage return at the end of the received text may be the first half of a line break.
      const whole = rest.endsWith("\r") ? rest.slice(0, -1) : rest;
      const frames = whole.replaceAll(/\r\n?/g, "\n").split("\n\n");
      rest = (frames.pop() ?? "") + rest.slice(whole.length);
      for (const frame of frames) {
        const data = dataOf(frame);
        if (data !== null) yield data;
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** Returns the data of a frame: its joined `data:` lines. Returns null for a frame without such lines. */
export function dataOf(frame: string): string | null {
  let data: string | null = null;
  for (const line of frame.split(LINE_END)) {
    if (!line.startsWith("data:")) continue;
    const value = line.slice(line[5] === " " ? 6 : 5);
    data = data === null ? value : `${data}\n${value}`;
  }
  return data;
}
