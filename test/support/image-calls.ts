import { loadSettings } from "../../src/config/index.ts";
import type { ImageOrder, ImageReply, ReferenceImage, RequestedSize } from "../../src/domain/image.ts";
import type { ImageModel } from "../../src/domain/model.ts";
import { resolveSize } from "../../src/domain/size.ts";
import { UpstreamError } from "../../src/domain/upstream-error.ts";
import { readImageHeader } from "../../src/imaging/sniff.ts";
import { PROVIDERS } from "../../src/providers/registry.ts";
import { makeBmp, makePng } from "./pictures.ts";
import { testSpool } from "./spool.ts";

/** A signal for calls that nobody ends. */
export const never = new AbortController().signal;

/** The shipped settings as they are with these variables, for what tests want to know of models and channels. */
export async function shippedSettings(env: Record<string, string>) {
  const { settings } = await loadSettings({ env, cwd: import.meta.dir, providers: PROVIDERS });
  return settings;
}

/** A model of the shipped catalogue with what it is called at its vendors, in order of the route. */
export function imageModel(settings: Awaited<ReturnType<typeof shippedSettings>>, id: string) {
  const model = settings.models.get(id);
  if (model?.type !== "image") throw new Error(`${id} is no image model`);
  return { model, targets: settings.routes.get(id)?.targets ?? [] };
}

/** An order as the gateway makes it: aligned to the model. */
export function makeOrder(
  model: ImageModel,
  upstreamModel: string,
  change: Partial<ImageOrder> & { wish?: RequestedSize } = {},
): ImageOrder {
  const { wish = { kind: "unset" }, ...rest } = change;
  const size = resolveSize(wish, model.image);
  return {
    upstreamModel,
    model,
    prompt: "a red fox",
    size,
    count: 1,
    references: [],
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

/** In a format that few vendors read. */
export function bmpReference(): ReferenceImage {
  return { blob: new Blob([makeBmp(16, 16)]), format: "bmp", width: 16, height: 16 };
}

/** Width, height and format of each picture, by its bytes. */
export async function describeImages({ images }: ImageReply): Promise<string[]> {
  const headers = await Promise.all(images.map((image) => readImageHeader(image)));
  return headers.map(({ width, height, format }) => `${width}x${height} ${format}`);
}

/** The `UpstreamError` a call ends with; fails when it ends otherwise. */
export async function failureOf(call: Promise<unknown>): Promise<UpstreamError> {
  const error = await call.then(
    () => new Error("the call succeeded"),
    (error: unknown) => error,
  );
  if (error instanceof UpstreamError) return error;
  throw error;
}
