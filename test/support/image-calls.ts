import { loadSettings } from "../../src/config/index.ts";
import type { ImageOrder, ImageReply, ReferenceImage, RequestedSize } from "../../src/domain/image.ts";
import type { ImageModel } from "../../src/domain/model.ts";
import { resolveSize } from "../../src/domain/size.ts";
import { UpstreamError } from "../../src/domain/upstream-error.ts";
import { readImageHeader } from "../../src/imaging/sniff.ts";
import { PROVIDERS } from "../../src/providers/registry.ts";
import { makeBmp, makePng } from "./pictures.ts";
import { testSpool } from "./spool.ts";

/** A signal that never aborts. */
export const never = new AbortController().signal;

/** Loads the shipped settings with these variables. */
export async function shippedSettings(env: Record<string, string>) {
  const { settings } = await loadSettings({ env, cwd: import.meta.dir, providers: PROVIDERS });
  return settings;
}

/** Returns a model of the shipped catalogue with its route's targets. */
export function imageModel(settings: Awaited<ReturnType<typeof shippedSettings>>, id: string) {
  const model = settings.models.get(id);
  if (model?.type !== "image") throw new Error(`${id} is no image model`);
  return { model, targets: settings.routes.get(id)?.targets ?? [] };
}

/** Returns an order as the gateway makes it, with a size that the model supports. */
export function makeOrder(
  model: ImageModel,
  upstreamModel: string,
  change: Partial<ImageOrder> & { requestedSize?: RequestedSize } = {},
): ImageOrder {
  const { requestedSize = { kind: "unset" }, ...rest } = change;
  const size = resolveSize(requestedSize, model.image);
  return {
    upstreamModel,
    model,
    prompt: "a red fox",
    size,
    count: 1,
    references: [],
    organization: "org_1",
    spool: testSpool,
    ...rest,
  };
}

export function pngReference(width = 32, height = 32): ReferenceImage {
  return { blob: new Blob([makePng(width, height)]), format: "png", width, height };
}

export async function webpReference(): Promise<ReferenceImage> {
  const { blob, width, height } = pngReference();
  const webp = await new Bun.Image(await blob.bytes()).webp({ quality: 80 }).blob();
  return { blob: webp, format: "webp", width, height };
}

/** Returns a reference in a format that few vendors read. */
export function bmpReference(): ReferenceImage {
  return { blob: new Blob([makeBmp(16, 16)]), format: "bmp", width: 16, height: 16 };
}

/** Returns width, height and format of each picture, read from its bytes. */
export async function describeImages({ images }: ImageReply): Promise<string[]> {
  const headers = await Promise.all(images.map((image) => readImageHeader(image)));
  return headers.map(({ width, height, format }) => `${width}x${height} ${format}`);
}

/** Returns the `UpstreamError` of a failed call. */
export async function failureOf(call: Promise<unknown>): Promise<UpstreamError> {
  const error = await call.then(
    () => new Error("the call succeeded"),
    (error: unknown) => error,
  );
  if (error instanceof UpstreamError) return error;
  throw error;
}
