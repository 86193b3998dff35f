import { SIMULATED_KEY as ARK_KEY, startArk } from "../upstreams/ark.ts";
import type { Simulator } from "../upstreams/simulator.ts";
import { SIMULATED_KEY as XAI_KEY, startXai } from "../upstreams/xai.ts";
import type { HarnessOptions } from "./vendor-harness.ts";

export const ARK: HarnessOptions<Simulator> = {
  channel: "ark",
  variables: ["ARK_API_KEY", "BYTEPLUS_API_KEY"],
  key: ARK_KEY,
  start: startArk,
  path: "/api/v3",
  model: "seedream-5-0-pro",
};

export const XAI: HarnessOptions<Simulator> = {
  channel: "xai",
  variables: ["XAI_API_KEY"],
  key: XAI_KEY,
  start: startXai,
  path: "/v1",
  model: "grok-imagine-image",
};
