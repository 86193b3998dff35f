import type { SimulatedResponse, ReceivedRequest } from "../http-server.ts";
import { sendJson } from "../transport.ts";
import type { Behaviour } from "../behaviour.ts";
import type { HttpExchange } from "../simulator.ts";
import { makePicture } from "../picture.ts";
import { readGeneration, readEdit, type ImageFields } from "./image-rules.ts";
import { refuse } from "./refusals.ts";

/** Factor of the longer edge in the count of tokens, by quality (community cost model of the images protocol). */
const FACTORS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  "gpt-image-2": { low: 16, medium: 48, high: 96 },
  default: { low: 16, medium: 24, high: 48, xhigh: 64, max: 96 },
};

/** Handles generations and edits. Returns real pictures of the requested size, with usage (OpenAI image reference). */
export async function handleImages(
  request: ReceivedRequest,
  response: SimulatedResponse,
  exchange: HttpExchange,
  models: readonly string[],
): Promise<void> {
  const isEdit = request.path.endsWith("/edits");
  const read = await (isEdit ? readEdit : readGeneration)(request, models);
  if ("refusal" in read) return refuse(response, read.refusal);
  const { fields } = read;
  const { behaviour } = exchange.hit;
  const quality = fields.quality === "auto" ? (behaviour.quality ?? "high") : fields.quality;
  const size = behaviour.size ?? (fields.size === "auto" ? "1024x1024" : fields.size);
  const count = behaviour.fault === "no-images" ? 0 : (behaviour.images ?? fields.n);
  const data = await makeItems(fields, size, count, behaviour);
  const usage = behaviour.usage ?? countTokens(fields, size, quality, count);
  const hasUsage = behaviour.fault !== "no-usage";
  await sendJson(
    response,
    200,
    {
      created: 1_790_000_000,
      background: fields.background === "auto" ? "opaque" : fields.background,
      output_format: fields.output_format,
      quality,
      size,
      data,
      ...(hasUsage && { usage }),
    },
    behaviour,
  );
  if (!response.isFinished) return;
  exchange.reportPictures(count);
  if (hasUsage) exchange.reportUsage(usage);
}

async function makeItems(
  fields: ImageFields,
  size: string,
  count: number,
  behaviour: Behaviour,
): Promise<unknown[]> {
  if (behaviour.fault === "bad-base64")
    return Array.from({ length: count }, () => ({ b64_json: "*".repeat(200_000) }));
  const [width = 0, height = 0] = size.split("x").map(Number);
  const picture = await makePicture(width, height, fields.output_format);
  // Some compatible vendors return a `data:` URL.
  const header = behaviour.fault === "data-url" ? "data:image/png;base64," : "";
  return Array.from({ length: count }, () => ({ b64_json: header + picture.toString("base64") }));
}

/** Counts tokens. A prompt's count depends on its length, an output image's count on quality, area and shape. */
function countTokens(fields: ImageFields, size: string, quality: string, count: number): object {
  const [width = 1, height = 1] = size.split("x").map(Number);
  const factor = (FACTORS[fields.model] ?? FACTORS["default"])?.[quality] ?? 0;
  const short = Math.round((factor * Math.min(width, height)) / Math.max(width, height));
  const output = count * Math.ceil((factor * short * (2_000_000 + width * height)) / 4_000_000);
  const text = Math.ceil(fields.prompt.length / 4);
  const image = fields.files * 1000;
  return {
    input_tokens: text + image,
    input_tokens_details: { text_tokens: text, image_tokens: image },
    output_tokens: output,
    total_tokens: text + image + output,
  };
}
