import { z } from "zod";
import { sandboxEmbeddings } from "./embeddings.ts";
import { createSandboxImageUpstream } from "./images/generate.ts";
import { createSandboxTextUpstreams } from "./text/send.ts";

/**
 * A vendor inside the gateway that needs no key and no network. It generates real pictures and texts. Equal requests
 * always get equal pictures and texts.
 */
export const sandbox = {
  name: "sandbox",
  title: "Sandbox",
  documentation:
    "Made-up text and real pictures without a vendor, for trying things out; needs no credential.",
  settings: z.strictObject({
    tokensPerSecond: z.number().positive().optional().describe("Tokens a second; unpaced when absent"),
  }),
  text: createSandboxTextUpstreams,
  image: createSandboxImageUpstream,
  embedding: () => sandboxEmbeddings,
  probe: async () => {},
};
