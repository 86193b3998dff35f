import { z } from "zod";
import type { Provider } from "../provider.ts";
import { createFetchResult } from "../result-link.ts";
import { createClassifier } from "./errors.ts";
import { createImageUpstream, type ArkConnection } from "./images.ts";

const settings = z.object({
  /** Where the key was made; keys and names of models belong to one region. */
  region: z.enum(["cn", "global"]).default("cn"),
  /** Address in front of `/images/generations`, in place of the region's own. */
  baseUrl: z.url({ protocol: /^https?$/, error: "must be an http or https address" }).optional(),
  apiKey: z.string().regex(/^[\x21-\x7e]+$/, "must be visible ASCII without spaces"),
  /** Makes several images by as many calls at once; one image a request otherwise. */
  fanOut: z.boolean().default(false),
});

export type ArkSettings = z.infer<typeof settings>;

/** Ark, the address of the Seedream models, in China (Volcengine) and elsewhere (BytePlus). */
export const ark: Provider<ArkSettings> = {
  name: "ark",
  settings,
  image: (settings) => createImageUpstream(connect(settings)),
};

const BASE_URLS: Readonly<Record<ArkSettings["region"], string>> = {
  cn: "https://ark.cn-beijing.volces.com/api/v3",
  global: "https://ark.ap-southeast.bytepluses.com/api/v3",
};

function connect({ region, baseUrl, apiKey, fanOut }: ArkSettings): ArkConnection {
  const base = (baseUrl ?? BASE_URLS[region]).replace(/\/+$/, "");
  return {
    url: `${base}/images/generations`,
    headers: {
      authorization: `Bearer ${apiKey}`,
      accept: "application/json",
      "accept-encoding": "identity",
      "content-type": "application/json",
      "user-agent": "model-inference-gateway",
    },
    classify: createClassifier(apiKey, new URL(base).hostname),
    fetchResult: createFetchResult(base),
    fansOut: fanOut,
  };
}
