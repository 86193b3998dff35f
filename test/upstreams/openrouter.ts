import { z } from "zod";
import { sendJson } from "./delivery.ts";
import {
  megapixelOf,
  readJsonBody,
  startVendor,
  type ErrorRow,
  type ErrorRows,
  type VendorCall,
} from "./error-rows.ts";
import { readInlineImage } from "./inline-image.ts";
import { drawPicture } from "./openai/drawing.ts";
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

/** Models by how many images their makers give a call. */
const MODELS: Readonly<Record<string, number>> = {
  "black-forest-labs/flux.2-pro": 1,
  "black-forest-labs/flux.2-max": 1,
  "openai/gpt-image-2": 10,
};
const SCALES: Readonly<Record<string, number>> = { "512": 0.5, "1K": 1, "2K": 2, "4K": 4 };

/** A simulated OpenRouter that refuses what the vendor refuses. The base address for a channel is `{url}/api/v1`. */
export function startOpenRouter(): Promise<Simulator> {
  return startVendor(ROWS, (call) => {
    const { method, path, headers } = call.request;
    if (headers["authorization"] !== `Bearer ${SIMULATED_KEY}`) return call.refuse("unauthorized");
    return method === "POST" && path === "/api/v1/images" ? answerCall(call) : call.refuse("unknown-model");
  });
}

async function answerCall({ request, answer, exchange, plan, refuse }: VendorCall): Promise<void> {
  const wish = body.safeParse(readJsonBody(request)).data;
  if (!wish) return refuse("bad-request");
  const most = MODELS[wish.model];
  if (most === undefined) return refuse("unknown-model");
  const references = await Promise.all(
    wish.input_references.map(({ image_url: { url } }) => readInlineImage(url)),
  );
  const isContradiction = wish.size !== undefined && wish.resolution !== undefined;
  const isUselessCompression = wish.output_compression !== undefined && wish.output_format === "png";
  if (isContradiction || isUselessCompression || wish.n > most || references.includes(null))
    return refuse("bad-request");
  const { width, height } = megapixelOf(wish.aspect_ratio, references[0], 16);
  const scale = SCALES[wish.resolution ?? "1K"] ?? 1;
  const count = plan.fault === "no-images" ? 0 : (plan.images ?? wish.n);
  const picture = await drawPicture(width * scale, height * scale, wish.output_format);
  const text = plan.fault === "bad-base64" ? "*".repeat(100_000) : picture.toString("base64");
  const data = Array.from({ length: count }, () => ({
    b64_json: text,
    media_type: `image/${wish.output_format}`,
  }));
  const output = 1120 * count;
  const counted = { prompt_tokens: 9, completion_tokens: output, total_tokens: 9 + output, cost: 0.03 };
  const usage = plan.fault === "no-usage" ? undefined : (plan.usage ?? counted);
  await sendJson(answer, 200, { created: 1_790_000_000, data, usage }, plan);
  if (!answer.isFinished) return;
  exchange.reportPictures(count);
  if (usage !== undefined) exchange.reportUsage(usage);
}
