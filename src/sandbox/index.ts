import { z } from "zod";
import { createSandboxImageUpstream } from "./images/generate.ts";
import { createSandboxTextUpstream } from "./text/send.ts";

/** Settings of a sandbox channel. */
export interface SandboxSettings {
  /** Speed of its answers; as fast as they are read when absent. */
  tokensPerSecond?: number | undefined;
}

/**
 * A vendor inside the gateway that needs no key and no network: it draws true pictures and answers text, the same
 * for the same request.
 */
export const sandbox = {
  name: "sandbox",
  settings: z.strictObject({
    tokensPerSecond: z.number().positive().optional().describe("Tokens a second; unpaced when absent"),
  }),
  text: createSandboxTextUpstream,
  image: createSandboxImageUpstream,
};
