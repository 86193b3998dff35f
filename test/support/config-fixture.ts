import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";

/** Short versions of two providers' schemas. */
export const TEST_PROVIDERS = new Map([
  ["sandbox", { settings: z.object({ tokensPerSecond: z.number().optional() }) }],
  [
    "openai",
    {
      settings: z.object({
        apiKey: z.string(),
        baseUrl: z.string().default("https://vendor.example/v1"),
        organization: z.string().optional(),
        imageDeadline: z.number().optional(),
      }),
    },
  ],
]);

export const SANDBOX_CATALOGUE = `
provider: sandbox
models:
  sandbox-chat:
    type: chat
    display_name: Sandbox chat
    owned_by: sandbox
    created: 2026-01-01
    max_output_tokens: 32768
    price: {per_million: {input: "0.10", output: "0.40", cache_read: "0.01"}}
  sandbox-a:
    type: image
    family: A
    created: 2026-01-01
    image:
      size_mode: table
      tiers: [1K, 2K]
      ratios: ["1:1", "16:9"]
      sizes:
        1K: {"1:1": 1024x1024, "16:9": 1376x768}
        2K: {"1:1": 2048x2048}
      qualities: [low, high]
      default_quality: low
      formats: [png, webp]
    price: {per_image: {1K: {low: "0.01", "*": "0.02"}, 2K: {"*": "0.04"}}}
`;

export const OPENAI_CATALOGUE = `
provider: openai
channel: {credential_env: OPENAI_API_KEY}
models:
  big-chat:
    type: chat
    created: 2026-01-01
    upstream_model: big-chat-2026
    max_output_tokens: 1000
    price: {per_million: {input: "1", output: "2"}}
  old-chat:
    type: chat
    retired: true
    created: 2024-01-01
    max_output_tokens: 1000
`;

/** Creates a folder with the given files. `await using` removes it. */
export async function folder(files: Record<string, string> = {}) {
  const path = await mkdtemp(join(tmpdir(), "gateway-config-"));
  for (const [name, text] of Object.entries(files)) await Bun.write(join(path, name), text);
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** Creates a folder with a small catalogue in `catalogue/`. */
export function folderWithCatalogue(files: Record<string, string> = {}) {
  return folder({
    "catalogue/sandbox.yaml": SANDBOX_CATALOGUE,
    "catalogue/openai.yaml": OPENAI_CATALOGUE,
    ...files,
  });
}
