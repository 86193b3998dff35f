import { z } from "zod";
import { sendJson } from "./transport.ts";
import {
  megapixelOf,
  readJsonBody,
  startVendor,
  type ErrorRow,
  type ErrorRows,
  type VendorCall,
} from "./error-rows.ts";
import { readInlineImage } from "./inline-image.ts";
import { makePicture } from "./picture.ts";
import type { Simulator } from "./simulator.ts";

export const SIMULATED_KEY = "sk-or-v1-simulated0123456789abcdef";

const problem = (code: number, message: string, metadata?: object): ErrorRow => ({
  status: code,
  body: { error: { code, message, ...(metadata && { metadata }) } },
});

/** The vendor's table of errors (OpenRouter error reference). */
export const ROWS: ErrorRows = {
  "bad-request": problem(400, "Invalid request parameters."),
  unauthorized: problem(401, "User not found."),
  "no-credits": problem(402, "Insufficient credits. Add more using https://openrouter.ai/credits."),
  moderated: problem(403, "Your chosen model requires moderation and your input was flagged for violence.", {
    reasons: ["violence"],
    flagged_input: "a red fox",
    provider_name: "black-forest-labs",
  }),
  forbidden: problem(403, "This key may not use the model."),
  "unknown-model": problem(404, "No endpoints found for some/model."),
  timeout: problem(408, "The request timed out."),
  "too-large": problem(413, "The request is too large."),
  throttled: problem(429, "Rate limit exceeded."),
  broken: problem(500, "Internal Server Error"),
  "provider-down": problem(502, "Provider returned error", { provider_name: "black-forest-labs" }),
  "provider-late": problem(524, "Provider timed out"),
  overloaded: problem(529, "Provider is overloaded"),
  echo: problem(400, `Bad header Authorization: Bearer ${SIMULATED_KEY}. Send another one.`),
};

const reference = z.strictObject({
  type: z.literal("image_url"),
  image_url: z.strictObject({ url: z.string() }),
});
const body = z.strictObject({
  model: z.string(),
  prompt: z.string().min(1),
  n: z.int().min(1).max(10).default(1),
  size: z.string().optional(),
  resolution: z.enum(["512", "1K", "2K", "4K"]).optional(),
  aspect_ratio: z
    .string()
    .regex(/^\d+(\.\d+)?:\d+(\.\d+)?$/)
    .optional(),
  quality: z.enum(["auto", "low", "medium", "high"]).optional(),
  background: z.enum(["auto", "opaque", "transparent"]).optional(),
  output_format: z.enum(["png", "jpeg", "webp"]).default("png"),
  output_compression: z.int().min(0).max(100).optional(),
  input_references: z.array(reference).max(16).default([]),
  seed: z.int().optional(),
  stream: z.boolean().optional(),
  provider: z.looseObject({}).optional(),
});

/** Maximum of images in one call, by model. */
const MODELS: Readonly<Record<string, number>> = {
  "black-forest-labs/flux.2-pro": 1,
  "black-forest-labs/flux.2-max": 1,
  "black-forest-labs/flux.2-flex": 1,
  "google/gemini-nano-banana-2.1": 1,
  "google/gemini-3-pro-image": 1,
  "google/gemini-3.1-flash-image": 1,
  "google/gemini-3.1-flash-lite-image": 1,
  "bytedance-seed/seedream-5-0-pro": 1,
  "bytedance-seed/seedream-4.5": 1,
  "x-ai/grok-imagine-image-2.0": 4,
  "openai/gpt-image-2": 10,
};
const SCALES: Readonly<Record<string, number>> = { "512": 0.5, "1K": 1, "2K": 2, "4K": 4 };

/** A simulated OpenRouter that refuses what the vendor refuses. The base address for a channel is `{url}/api/v1`. */
export function startOpenRouter(): Promise<Simulator> {
  return startVendor(ROWS, (call) => {
    const { method, path, headers } = call.request;
    if (headers["authorization"] !== `Bearer ${SIMULATED_KEY}`) return call.refuse("unauthorized");
    if (method === "GET" && path === "/api/v1/key")
      return sendJson(call.response, 200, { data: { label: "simulated", usage: 0 } });
    return method === "POST" && path === "/api/v1/images" ? handleCall(call) : call.refuse("unknown-model");
  });
}

async function handleCall({ request, response, exchange, behaviour, refuse }: VendorCall): Promise<void> {
  const parsed = body.safeParse(readJsonBody(request)).data;
  if (!parsed) return refuse("bad-request");
  const max = MODELS[parsed.model];
  if (max === undefined) return refuse("unknown-model");
  const references = await Promise.all(
    parsed.input_references.map(({ image_url: { url } }) => readInlineImage(url)),
  );
  const isContradiction = parsed.size !== undefined && parsed.resolution !== undefined;
  const isUselessCompression = parsed.output_compression !== undefined && parsed.output_format === "png";
  if (isContradiction || isUselessCompression || parsed.n > max || references.includes(null))
    return refuse("bad-request");
  const { width, height } = megapixelOf(parsed.aspect_ratio, references[0], 16);
  const scale = SCALES[parsed.resolution ?? "1K"] ?? 1;
  const count = behaviour.fault === "no-images" ? 0 : (behaviour.images ?? parsed.n);
  const picture = await makePicture(width * scale, height * scale, parsed.output_format);
  const text = behaviour.fault === "bad-base64" ? "*".repeat(100_000) : picture.toString("base64");
  const data = Array.from({ length: count }, () => ({
    b64_json: text,
    media_type: `image/${parsed.output_format}`,
  }));
  const output = 1120 * count;
  const counted = { prompt_tokens: 9, completion_tokens: output, total_tokens: 9 + output, cost: 0.03 };
  const usage = behaviour.fault === "no-usage" ? undefined : (behaviour.usage ?? counted);
  await sendJson(response, 200, { created: 1_790_000_000, data, usage }, behaviour);
  if (!response.isFinished) return;
  exchange.reportPictures(count);
  if (usage !== undefined) exchange.reportUsage(usage);
}
