import type { PictureReply } from "../picture-thread.ts";
import { dropLowBits, turn } from "./change.ts";
import type { PngRequest, PngWork } from "./index.ts";
import { type PngPixels, readPixels } from "./pixels.ts";
import { reduce } from "./reduce.ts";
import { writePixels } from "./write.ts";

/* This thread encodes one picture and then ends, so that neither its loops nor its memory concern the requests. */

declare const self: Worker;

self.onmessage = ({ data }: MessageEvent<PngRequest>) => {
  const reply = encode(data);
  postMessage(reply, "png" in reply ? [reply.png.buffer] : []);
};

function encode({ png, work }: PngRequest): PictureReply {
  try {
    return { png: writePixels(change(readPixels(png), work)) };
  } catch (error) {
    return { problem: String(error) };
  }
}

function change(pixels: PngPixels, work: PngWork): PngPixels {
  switch (work.kind) {
    case "reduce":
      return reduce(pixels, work.hasAlpha);
    case "turn":
      return turn(pixels, work.orientation);
    case "coarsen":
      return dropLowBits(pixels);
  }
}
