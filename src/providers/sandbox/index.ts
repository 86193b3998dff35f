import { z } from "zod";
import type { Provider } from "../provider.ts";
import { createImageUpstream } from "./images/draw.ts";
import { createTextUpstream } from "./text/send.ts";

/** Settings of a sandbox channel. */
export interface SandboxSettings {
  /** Speed of its answers; as fast as they are read when absent. */
  tokensPerSecond?: number | undefined;
}

/**
 * A vendor inside the gateway that needs no key and no network: it draws true pictures and answers text, the same
 * for the same request.
 */
export const sandbox: Provider<SandboxSettings> = {
  name: "sandbox",
  settings: z.strictObject({
    tokensPerSecond: z.number().positive().optional().describe("Tokens a second; unpaced when absent"),
  }),
  text: createTextUpstream,
  image: createImageUpstream,
};
