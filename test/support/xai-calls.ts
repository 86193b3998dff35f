import type { ImageOrder, ReferenceImage, SizeWish } from "../../src/domain/image.ts";
import type { ImageUpstream } from "../../src/gateway/ports.ts";
import { xai } from "../../src/providers/xai/index.ts";
import { SIMULATED_KEY } from "../upstreams/xai.ts";
import { imageModel, makeOrder, pngReference, shippedSettings } from "./image-calls.ts";

export const xaiSettings = await shippedSettings({ XAI_API_KEY: SIMULATED_KEY });

export type Change = Partial<ImageOrder> & { wish?: SizeWish };

/** An order for a shipped model. */
export function xaiOrder(change: Change = {}, id = "grok-imagine-image"): ImageOrder {
  const { model, targets } = imageModel(xaiSettings, id);
  return makeOrder(model, targets[0]!.upstreamModel, change);
}

/** The adapter as the gateway opens it for a channel at the simulator's address. */
export function openXai(url: string, apiKey = SIMULATED_KEY): ImageUpstream {
  return xai.image!(xai.settings.parse({ baseUrl: `${url}/v1`, apiKey }));
}

export async function webpReference(): Promise<ReferenceImage> {
  const { blob, width, height } = pngReference();
  const webp = await new Bun.Image(await blob.bytes()).webp({ quality: 80 }).blob();
  return { blob: webp, format: "webp", width, height };
}
