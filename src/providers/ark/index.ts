import { z } from "zod";
import { fanOutSetting, headerWord, httpAddress } from "../transport/channel-settings.ts";
import { connect } from "../transport/connection.ts";
import { createImageUpstream, isSingle } from "../images/image-upstream.ts";
import type { Provider } from "../provider.ts";
import { createVendorErrors } from "../transport/vendor-errors.ts";
import { readFailure } from "./errors.ts";
import { generate } from "./images.ts";
import { REFERENCE_RULES } from "./request.ts";

const settings = z.object({
  /** Where the key was made; keys and names of models belong to one region. */
  region: z.enum(["cn", "global"]).default("cn"),
  /** Address in front of `/images/generations`, in place of the region's own. */
  baseUrl: httpAddress.optional(),
  apiKey: headerWord,
  fanOut: fanOutSetting,
});

export type ArkSettings = z.infer<typeof settings>;

/** Ark, the address of the Seedream models, in China (Volcengine) and elsewhere (BytePlus). */
export const ark: Provider<ArkSettings> = {
  name: "ark",
  settings,
  image({ region, baseUrl = BASE_URLS[region], apiKey, fanOut }) {
    const connection = connect({ baseUrl, apiKey });
    const vendor = { ...connection, ...createVendorErrors(connection, readFailure) };
    return createImageUpstream({
      rules: REFERENCE_RULES,
      fansOut: (order) => fanOut && isSingle(order),
      generate: (order, signal) => generate(order, vendor, signal),
    });
  },
};

const BASE_URLS: Readonly<Record<ArkSettings["region"], string>> = {
  cn: "https://ark.cn-beijing.volces.com/api/v3",
  global: "https://ark.ap-southeast.bytepluses.com/api/v3",
};
