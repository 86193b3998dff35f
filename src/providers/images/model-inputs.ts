import { z } from "zod";
import type { ImageOrder } from "../../domain/image.ts";
import { followsReference, wantedFormat, wantedSize } from "./wanted-image.ts";

const field = z.string().regex(/^[a-z_]+(\[\])?$/, "must be a field's name, with [] behind it for a list");

/**
 * How one model of a house that hosts many calls its inputs; each model has words of its own there. Data of the
 * channel's settings, under the vendor's name of the model.
 */
export const modelInputs = z.strictObject({
  /** The vendor's name of the model for edits, when that is another. */
  edit: z.string().min(1).optional(),
  /** Field of the references; `name[]` takes a list, any other the first only. */
  references: field.optional(),
  /** How a size is said: `image_size: {width, height}`, the fields `width` and `height`, or `aspect_ratio`. */
  size: z.enum(["image_size", "width_height", "aspect_ratio"]).optional(),
  /** What `aspect_ratio` is for the shape of the first reference; the field is left out for it otherwise. */
  follow: z.string().min(1).optional(),
  /** What `resolution` is at each tier; there is no such field without it. */
  resolution: z.partialRecord(z.enum(["1K", "2K", "4K"]), z.string().min(1)).optional(),
  /** Field of the number of images; a call gives one image without it. */
  count: field.optional(),
  /** What `output_format` is for each format; there is no such field without it. */
  formats: z.partialRecord(z.enum(["png", "jpeg", "webp"]), z.string().min(1)).optional(),
});

export type ModelInputs = z.infer<typeof modelInputs>;

/** Setting of a channel: the inputs of its models. */
export const modelsSetting = z.record(z.string().min(1), modelInputs).default({});

/** The vendor's name of what carries the order out. */
export function modelFor({ references, upstreamModel }: ImageOrder, { edit }: ModelInputs): string {
  return references.length > 0 ? (edit ?? upstreamModel) : upstreamModel;
}

/** The model's inputs, as a JSON value; `base64` as in `writeJsonBody`. */
export function writeInputs(
  order: ImageOrder,
  inputs: ModelInputs,
  base64: (blob: Blob) => string,
): Record<string, unknown> {
  const { resolution, count, formats, references } = inputs;
  const tierWord = resolution?.[order.size.tier];
  const format = wantedFormat(order);
  const formatWord = format && formats?.[format];
  return {
    prompt: order.prompt,
    ...(references !== undefined && writeReferences(order, references, base64)),
    ...writeSize(order, inputs),
    ...(tierWord !== undefined && { resolution: tierWord }),
    ...(count !== undefined && { [count]: order.count }),
    ...(formatWord !== undefined && { output_format: formatWord }),
  };
}

function writeReferences(
  { references }: ImageOrder,
  name: string,
  base64: (blob: Blob) => string,
): Record<string, unknown> {
  if (references.length === 0) return {};
  const isList = name.endsWith("[]");
  const links = (isList ? references : references.slice(0, 1)).map(
    ({ blob, format }) => `data:image/${format};base64,${base64(blob)}`,
  );
  return isList ? { [name.slice(0, -2)]: links } : { [name]: links[0] };
}

function writeSize(order: ImageOrder, { size, follow }: ModelInputs): Record<string, unknown> {
  const { width, height, ratio } = wantedSize(order);
  switch (size) {
    case "image_size":
      return { image_size: { width, height } };
    case "width_height":
      return { width, height };
    case "aspect_ratio":
      if (!followsReference(order)) return { aspect_ratio: ratio };
      return follow === undefined ? {} : { aspect_ratio: follow };
    case undefined:
      return {};
  }
}
