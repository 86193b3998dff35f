/** One server-sent event. */
interface StreamEvent {
  /** Empty where the event has no name. */
  name: string;
  data: string;
}

/** The events of a response, as they come. Comments, which only keep a connection open, are left out. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamEvent> {
  const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + value.replaceAll("\r\n", "\n")).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const event = readBlock(block);
        if (event) yield event;
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function readBlock(block: string): StreamEvent | null {
  const fieldsOf = (field: string): string[] =>
    block
      .split("\n")
      .filter((line) => line.startsWith(`${field}:`))
      .map((line) => line.slice(field.length + 1).replace(/^ /, ""));
  const data = fieldsOf("data");
  return data.length === 0 ? null : { name: fieldsOf("event")[0] ?? "", data: data.join("\n") };
}
