import type { ImageOrder } from "../../src/domain/image.ts";
import type { ImageUpstream, TextResponse } from "../../src/gateway/upstreams.ts";
import { azure } from "../../src/providers/azure/index.ts";
import { CHAT_DEPLOYMENT, IMAGE_DEPLOYMENT, SIMULATED_KEY } from "../upstreams/azure.ts";
import { imageModel, makeOrder, shippedSettings } from "./image-calls.ts";
import { FairSemaphore } from "../../src/lib/semaphore.ts";

/** Shipped settings with the channels of OpenAI and Azure. */
export const azureSettings = await shippedSettings({
  OPENAI_API_KEY: "sk-unused",
  AZURE_OPENAI_API_KEY: SIMULATED_KEY,
  AZURE_OPENAI_ENDPOINT: "https://my-resource.openai.azure.com",
});

/** Returns an order for the shipped model that the simulated deployment serves. */
export function azureOrder(change: Parameters<typeof makeOrder>[2] = {}): ImageOrder {
  return makeOrder(imageModel(azureSettings, "gpt-image-2").model, IMAGE_DEPLOYMENT, change);
}

/** Calls to the adapter, in the gateway's form. */
export interface AzureCalls {
  chat(body?: object, signal?: AbortSignal): Promise<TextResponse>;
  generate(
    change?: Parameters<typeof makeOrder>[2],
    signal?: AbortSignal,
  ): ReturnType<ImageUpstream["generate"]>;
}

export function callAzure(url: string, extra: object = {}): AzureCalls {
  const settings = azure.settings.parse({ baseUrl: url, apiKey: SIMULATED_KEY, ...extra });
  const [text] = azure.text!(settings);
  const image = azure.image!(settings, new FairSemaphore(2));
  const never = new AbortController().signal;
  return {
    chat(body = {}, signal = never) {
      const fields = { model: CHAT_DEPLOYMENT, messages: [{ role: "user", content: "hi" }], ...body };
      const raw = JSON.stringify(fields);
      const isStream = "stream" in fields && fields.stream === true;
      return text!.send({ raw, upstreamModel: fields.model, isStream, headers: {}, signal });
    },
    generate: (change = {}, signal = never) => image.generate(azureOrder(change), signal),
  };
}
