import type { ReceivedRequest } from "../http-server.ts";
import { readInlineImage } from "../inline-image.ts";

/** An error response. The vendor's bodies have several shapes (xAI API reference). */
export interface Refusal {
  status: number;
  body: object;
  headers?: Record<string, string>;
}

export interface ParsedRequest {
  n: number;
  width: number;
  height: number;
  references: number;
  isInline: boolean;
}

/** Maximum of references by model. Only the newer model accepts a quality. */
const MODELS: Readonly<Record<string, { references: number; hasQuality: boolean }>> = {
  "grok-imagine-image": { references: 3, hasQuality: false },
  "grok-imagine-image-2.0": { references: 5, hasQuality: true },
};
const RATIOS = "1:1 3:4 4:3 9:16 16:9 2:3 3:2 9:19.5 19.5:9 9:20 20:9 1:2 2:1 auto".split(" ");
const COMMON = "model prompt n response_format aspect_ratio resolution quality user storage_options".split(
  " ",
);

type Values = Readonly<Record<string, unknown>>;
type Read<Wanted> = Wanted | { refusal: Refusal };

/** Reads a generation or edit as strictly as the vendor: only JSON, without unknown fields or wrong values. */
export async function parseRequest(request: ReceivedRequest): Promise<Read<ParsedRequest>> {
  if (request.headers["content-type"] !== "application/json")
    return {
      refusal: flat(415, "invalid-argument", "Expected request with `Content-Type: application/json`"),
    };
  const values: Values = JSON.parse(request.body.toString("utf8"));
  const isEdit = request.path.endsWith("/edits");
  const known = isEdit ? [...COMMON, "image", "images"] : COMMON;
  const unknown = Object.keys(values).find((name) => !known.includes(name));
  if (unknown) return { refusal: flat(400, "400", `Argument not supported: ${unknown}`) };
  const model = MODELS[String(values["model"])];
  if (!model) return { refusal: unknownModel(String(values["model"])) };
  const refusal = findFault(values, model.hasQuality);
  if (refusal) return { refusal };
  const shapes = isEdit ? await readReferences(values, model.references) : [];
  if ("refusal" in shapes) return shapes;
  const { n = 1, response_format: delivery = "url" } = values;
  const ratio = ratioOf(String(values["aspect_ratio"] ?? "auto"), shapes);
  const area = values["resolution"] === "2k" ? 2 ** 22 : 2 ** 20;
  return {
    n: Number(n),
    ...pixelsOf(ratio, area),
    references: shapes.length,
    isInline: delivery === "b64_json",
  };
}

export function flat(status: number, code: string, error: string): Refusal {
  return { status, body: { code, error } };
}

function unknownModel(model: string): Refusal {
  return flat(404, "not-found", `The model ${model} does not exist or your team does not have access to it.`);
}

function findFault(values: Values, hasQuality: boolean): Refusal | undefined {
  const wrong = (status: number, why: string) => flat(status, "invalid-argument", why);
  const { prompt, n = 1, response_format: delivery = "url", aspect_ratio: ratio = "auto" } = values;
  const { resolution = "1k", quality } = values;
  if (typeof prompt !== "string" || prompt === "") return wrong(400, "prompt is required");
  if (typeof n !== "number" || !Number.isInteger(n) || n < 1 || n > 10)
    return wrong(422, "n must be 1 to 10");
  if (delivery !== "url" && delivery !== "b64_json") return wrong(422, "unknown response_format");
  if (!RATIOS.includes(String(ratio))) return wrong(422, "unknown aspect_ratio");
  if (resolution !== "1k" && resolution !== "2k") return wrong(422, "unknown variant, expected `1k` or `2k`");
  if (quality === undefined) return undefined;
  if (!hasQuality) return flat(400, "400", "Argument not supported: quality");
  return ["low", "medium", "auto"].includes(String(quality)) ? undefined : wrong(400, "unknown quality");
}

interface Shape {
  width: number;
  height: number;
}

async function readReferences(values: Values, max: number): Promise<Shape[] | { refusal: Refusal }> {
  const wrong = (why: string) => ({ refusal: flat(400, "invalid-argument", why) });
  const { image, images } = values;
  if ((image === undefined) === (images === undefined)) return wrong("either image or images is required");
  const given: unknown[] = Array.isArray(images) ? images : [image];
  if (given.length === 0 || given.length > max) return wrong(`1 to ${max} images are supported`);
  const shapes: Shape[] = [];
  for (const item of given) {
    const { url, type = "image_url", ...rest } = Object(item);
    if (type !== "image_url" || Object.keys(rest).length > 0) return wrong("unknown kind of image");
    const picture = await readInlineImage(url);
    if (!picture || (picture.format !== "png" && picture.format !== "jpeg")) return wrong("unreadable image");
    shapes.push(picture);
  }
  return shapes;
}

/**
 * Returns the ratio of the output. A single image keeps its ratio; otherwise the requested ratio applies. `auto` means
 * the ratio of the first image, or 1:1 without an image.
 */
function ratioOf(label: string, [first, ...rest]: readonly Shape[]): number {
  if (first && (rest.length === 0 || label === "auto")) return first.width / first.height;
  const [across = 1, down = 1] = label === "auto" ? [1, 1] : label.split(":").map(Number);
  return across / down;
}

function pixelsOf(ratio: number, area: number): Shape {
  const side = (value: number) => Math.max(16, Math.round(value / 16) * 16);
  return { width: side(Math.sqrt(area * ratio)), height: side(Math.sqrt(area / ratio)) };
}
