import type { FormField, GatewayCall } from "./gateway.ts";
import type { ImageOptions, PlaygroundModel } from "./models.ts";

/** The values of the image form. An option with an empty text is not sent, so that its default applies. */
export interface ImageForm {
  prompt: string;
  /** A tier, or `EXACT`. */
  size: string;
  /** Size in the form `WxH`; used when `size` is `EXACT`. */
  exactSize: string;
  ratio: string;
  quality: string;
  background: string;
  format: string;
  /** Compression from 0 to 100. With null, the model chooses. */
  compression: number | null;
  /** Number of pictures, 1 to 4, as text. */
  count: string;
  delivery: string;
  isJob: boolean;
  /** True when the gateway should compress large references before it sends them. */
  compressesReferences: boolean;
}

/** The value of `size` that means a size in pixels instead of a tier. */
export const EXACT = "exact";

export const EMPTY_FORM: ImageForm = {
  prompt: "",
  size: "",
  exactSize: "",
  ratio: "",
  quality: "",
  background: "",
  format: "",
  compression: null,
  count: "1",
  delivery: "",
  isJob: false,
  compressesReferences: false,
};

/** A picture to edit. */
export interface Reference {
  id: string;
  name: string;
  blob: Blob;
  /**
   * The mask has the size of the picture and is transparent where the model may paint. Only the first reference's mask
   * has an effect.
   */
  mask: Blob | null;
}

/**
 * Returns the form for one model. A value that the model does not offer becomes empty, so that the model chooses it.
 * The count is at most the model's maximum.
 */
function fitForm(form: ImageForm, options: ImageOptions): ImageForm {
  const oneOf = (value: string, offered: readonly string[]): string => (offered.includes(value) ? value : "");
  const isExact = form.size === EXACT && options.pixels !== null;
  const format = oneOf(form.format, options.formats);
  return {
    ...form,
    size: isExact ? form.exactSize.trim() : oneOf(form.size, options.tiers),
    ratio: isExact ? "" : oneOf(form.ratio, options.ratios),
    quality: oneOf(form.quality, options.qualities),
    background: oneOf(form.background, options.backgrounds),
    format,
    compression: hasCompression(options, format) ? form.compression : null,
    count: String(Math.min(Number(form.count), options.maxCount)),
  };
}

/** Returns the options that at least one of the two models has. */
export function joinOptions(one: ImageOptions, other: ImageOptions): ImageOptions {
  const both = (name: "tiers" | "ratios" | "qualities" | "backgrounds" | "formats"): string[] => [
    ...new Set([...one[name], ...other[name]]),
  ];
  return {
    tiers: both("tiers"),
    ratios: both("ratios"),
    qualities: both("qualities"),
    backgrounds: both("backgrounds"),
    formats: both("formats"),
    pixels: one.pixels ?? other.pixels,
    hasCompression: one.hasCompression || other.hasCompression,
    hasMask: one.hasMask || other.hasMask,
    maxCount: Math.max(one.maxCount, other.maxCount),
    maxReferences: Math.max(one.maxReferences, other.maxReferences),
  };
}

/** True when pictures in this format can be compressed. */
export function hasCompression(options: ImageOptions, format: string): boolean {
  return options.hasCompression && (format === "jpeg" || format === "webp");
}

/**
 * Builds a model's request from the form: a generation, or an edit if there are references and the model takes them.
 * Both may be jobs.
 */
export function imageCall(
  model: PlaygroundModel,
  form: ImageForm,
  references: readonly Reference[],
): GatewayCall {
  const { isJob } = form;
  const fields = fieldsOf(model, form);
  const taken = references.slice(0, model.image?.maxReferences ?? 0);
  const path = isJob ? "/api/jobs" : taken.length > 0 ? "/v1/images/edits" : "/v1/images/generations";
  if (taken.length === 0) return { method: "POST", path, body: { kind: "json", value: fields } };
  const texts = Object.entries(fields).map(([name, value]): FormField => [name, String(value)]);
  const pictures = taken.map(({ blob, name }): FormField => ["image[]", { blob, fileName: name }]);
  const mask = model.image?.hasMask ? taken[0]?.mask : null;
  const masks: FormField[] = mask ? [["mask", { blob: mask, fileName: "mask.png" }]] : [];
  const headers = form.compressesReferences ? { headers: { "x-input-image-compress": "true" } } : {};
  return {
    method: "POST",
    path,
    ...headers,
    body: { kind: "form", fields: [...texts, ...pictures, ...masks] },
  };
}

/** Returns the query that looks up the price of the request that the form describes. */
export function priceQuery(model: PlaygroundModel, form: ImageForm): Record<string, string> {
  const { size, aspectRatio, quality, n } = fieldsOf(model, form);
  const query = { model: model.id, size, aspectRatio, quality, n };
  return Object.fromEntries(
    Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  );
}

type Fields = Record<string, string | number | undefined>;

function fieldsOf(model: PlaygroundModel, form: ImageForm): Fields {
  const fitted = model.image ? fitForm(form, model.image) : form;
  const { prompt, size, ratio, quality, background, format, compression, count, delivery } = fitted;
  const chosen: Fields = {
    model: model.id,
    prompt,
    size,
    aspectRatio: ratio,
    quality,
    background,
    output_format: format,
    output_compression: compression ?? "",
    n: count === "1" ? "" : Number(count),
    // A job always delivers links.
    response_format: form.isJob ? "" : delivery,
  };
  return Object.fromEntries(Object.entries(chosen).filter(([, value]) => value !== ""));
}
