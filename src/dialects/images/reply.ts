import type { ImageDelivery } from "../../domain/delivered-image.ts";

/** Bytes of a picture encoded at once: a multiple of three, so that pieces of base64 join without padding. */
const SLICE_BYTES = 192 * 1024;

/**
 * Says a delivery in the words of the image interface. Pictures that go into the answer are read and encoded slice
 * by slice as the caller takes them, so that an answer never stands in memory as a whole.
 */
export function writeReply(delivery: ImageDelivery, created: number): string | ReadableStream<Uint8Array> {
  if (delivery.images.every(({ isInline }) => !isInline)) {
    return JSON.stringify({
      ...head(delivery, created),
      data: delivery.images.map(({ url }) => ({ url })),
      ...tail(delivery),
    });
  }
  return inSlices(pieces(delivery, created));
}

function head({ model, width, height, quality, background, format }: ImageDelivery, created: number): object {
  return { created, model, size: `${width}x${height}`, quality, output_format: format, background };
}

function tail({ usage }: ImageDelivery): object {
  if (!usage) return {};
  return { usage: { input_tokens: usage.input, output_tokens: usage.output, total_tokens: usage.total } };
}

async function* pieces(delivery: ImageDelivery, created: number): AsyncGenerator<string> {
  yield `${JSON.stringify(head(delivery, created)).slice(0, -1)},"data":[`;
  let separator = "";
  for (const { blob, url } of delivery.images) {
    yield `${separator}{${url === undefined ? "" : `"url":${JSON.stringify(url)},`}"b64_json":"`;
    for (let start = 0; start < blob.size; start += SLICE_BYTES) {
      yield Buffer.from(await blob.slice(start, start + SLICE_BYTES).arrayBuffer()).toString("base64");
      // Callers who read as fast as slices come would otherwise hold the event loop together.
      await new Promise(setImmediate);
    }
    yield `"}`;
    separator = ",";
  }
  const rest = JSON.stringify(tail(delivery)).slice(1);
  yield rest === "}" ? "]}" : `],${rest}`;
}

function inSlices(source: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await source.next();
        if (done) controller.close();
        else controller.enqueue(encoder.encode(value));
      } catch (error) {
        controller.error(error);
      }
    },
    async cancel() {
      await source.return(undefined);
    },
  });
}
