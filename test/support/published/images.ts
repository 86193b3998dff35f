import type { ImagesResponse } from "openai/resources/images";
import { z } from "zod";
import { count, seconds } from "./fields.ts";

/**
 * Responses of the image routes (openai 7.55.0, resources/images). The compiler refuses a schema without a field that
 * the client's types require.
 */
export const imagesReply = z.object({
  created: seconds,
  data: z.array(
    z
      .object({ url: z.url().optional(), b64_json: z.base64().optional() })
      .refine(({ url, b64_json: base64 }) => url ?? base64, { message: "neither a link nor base64" }),
  ),
  size: z.string().regex(/^\d+x\d+$/),
  quality: z.enum(["low", "medium", "high", "xhigh", "max"]).optional(),
  output_format: z.enum(["png", "jpeg", "webp"]),
  background: z.enum(["transparent", "opaque"]).optional(),
  usage: z
    .object({
      input_tokens: count,
      input_tokens_details: z.object({ text_tokens: count, image_tokens: count }),
      output_tokens: count,
      total_tokens: count,
    })
    .optional(),
}) satisfies z.ZodType<ImagesResponse>;
