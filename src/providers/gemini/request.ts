import type { ImageOrder, ReferenceImage } from "../../domain/image.ts";
import { writeJsonBody, type JsonBody } from "../transport/json-body.ts";
import { followsReference } from "../images/wanted-image.ts";

/**
 * Writes the request for one picture: references in their order, then the prompt that speaks of them (Gemini API
 * reference, `GenerateContentRequest`). An edit that names no shape leaves it to the vendor, which follows
 * the first picture.
 */
export function writeRequest(order: ImageOrder, takesOutputOptions: boolean): JsonBody {
  return writeJsonBody((base64) => ({
    contents: [
      {
        role: "user",
        parts: [
          ...order.references.map(({ blob, format }) => ({
            inlineData: { mimeType: `image/${format}`, data: base64(blob) },
          })),
          { text: order.prompt },
        ],
      },
    ],
    generationConfig: {
      // Without this the models add prose, which is billed and which nobody asked for.
      responseModalities: ["IMAGE"],
      imageConfig: {
        ...(!order.size.isAuto && !followsReference(order) && { aspectRatio: order.size.ratio }),
        imageSize: order.size.tier,
        ...(takesOutputOptions && order.format === "jpeg" && { imageOutputOptions: writeJpeg(order) }),
      },
    },
  }));
}

/** Formats of references that the vendor reads (Gemini API, image understanding; AVIF by the REST reference). */
export const REFERENCE_FORMATS: readonly ReferenceImage["format"][] = ["png", "jpeg", "webp", "heic", "avif"];

/** The vendor's own default of 75 would be coarser than what callers get elsewhere. */
function writeJpeg({ compression = 100 }: ImageOrder): object {
  return { mimeType: "image/jpeg", compressionQuality: compression };
}
