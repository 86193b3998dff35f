import type { ImageOrder, SizeWish } from "../../src/domain/image.ts";
import type { ImageUpstream } from "../../src/gateway/ports.ts";
import { ark } from "../../src/providers/ark/index.ts";
import { SIMULATED_KEY } from "../upstreams/ark.ts";
import { imageModel, makeOrder, shippedSettings } from "./image-calls.ts";

export const arkSettings = await shippedSettings({
  ARK_API_KEY: SIMULATED_KEY,
  BYTEPLUS_API_KEY: SIMULATED_KEY,
});

export type Change = Partial<ImageOrder> & { wish?: SizeWish };

/** An order for a shipped model, by its name in the China region. */
export function arkOrder(change: Change = {}, id = "seedream-5-0-pro"): ImageOrder {
  const { model, targets } = imageModel(arkSettings, id);
  return makeOrder(model, targets[0]!.upstreamModel, change);
}

/** The adapter as the gateway opens it for a channel at the simulator's address. */
export function openArk(url: string, extra: object = {}): ImageUpstream {
  return ark.image!(ark.settings.parse({ baseUrl: `${url}/api/v3`, apiKey: SIMULATED_KEY, ...extra }));
}
