import { textOf } from "./bytes.ts";
import type { ImageOrder } from "../../src/domain/image.ts";
import type { ImageModel } from "../../src/domain/model.ts";
import { UpstreamError } from "../../src/domain/upstream-error.ts";
import type { ImageUpstream, TextResponse, TextUpstream } from "../../src/gateway/upstreams.ts";
import { openai } from "../../src/providers/openai.ts";
import { SIMULATED_KEY } from "../upstreams/openai.ts";
import { makePng } from "./pictures.ts";
import { testSpool } from "./spool.ts";
import { FairSemaphore } from "../../src/lib/semaphore.ts";

/** Calls to the OpenAI adapter, in the gateway's form. */
export interface OpenAiCalls {
  text: TextUpstream;
  image: ImageUpstream;
  chat(body: object, signal?: AbortSignal): Promise<TextResponse>;
  generate(order?: Partial<ImageOrder>, signal?: AbortSignal): ReturnType<ImageUpstream["generate"]>;
}

export function callOpenAi(url: string, extra: Record<string, string> = {}): OpenAiCalls {
  const settings = openai.settings.parse({ baseUrl: `${url}/v1`, apiKey: SIMULATED_KEY, ...extra });
  const [text] = openai.text!(settings);
  const image = openai.image!(settings, new FairSemaphore(2));
  const never = new AbortController().signal;
  return {
    text: text!,
    image,
    chat(body, signal = never) {
      const parsed = { model: "gpt-5.4", messages: [{ role: "user", content: "hi" }], ...body };
      const raw = JSON.stringify(parsed);
      const isStream = "stream" in parsed && parsed.stream === true;
      return text!.send({ raw, upstreamModel: parsed.model, isStream, headers: {}, signal });
    },
    generate: (order = {}, signal = never) => image.generate({ ...makeOrder(), ...order }, signal),
  };
}

export function makeOrder(): ImageOrder {
  return {
    upstreamModel: "gpt-image-2",
    model: IMAGE_MODEL,
    prompt: "A quiet harbour",
    size: { tier: "1K", ratio: "1:1", width: 1024, height: 1024, isAuto: false, isShapeFree: false },
    count: 1,
    references: [],
    organization: "org_1",
    spool: testSpool,
  };
}

export function makeReference(
  format: "png" | "jpeg" | "webp" | "gif" = "png",
): ImageOrder["references"][number] {
  return { blob: new Blob([makePng(16, 16)]), format, width: 16, height: 16 };
}

/** Reads the complete text of a response. */
export async function readText(response: TextResponse): Promise<string> {
  if (response.kind === "whole") return response.text;
  return textOf(response.stream);
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

const IMAGE_MODEL: ImageModel = {
  id: "gpt-image-2",
  type: "image",
  family: "A",
  displayName: "GPT Image 2",
  ownedBy: "openai",
  created: 1,
  isRetired: false,
  image: {
    sizeMode: "pixels",
    tiers: ["1K", "2K", "4K"],
    ratios: ["1:1"],
    sizes: {},
    qualities: ["low", "medium", "high"],
    formats: ["png", "jpeg", "webp"],
    backgrounds: ["auto", "opaque"],
    maxImagesPerCall: 4,
  },
};
