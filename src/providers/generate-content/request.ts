import type { ImageOrder, ReferenceImage } from "../../domain/image.ts";
import { writeJsonBody, type JsonBody } from "../transport/json-body.ts";
import { followsReference } from "../images/wanted-image.ts";

/**
 * Writes the request for one picture: references in order, then the prompt (Gemini API reference,
 * `GenerateContentRequest`). Without an aspect ratio the vendor gives an edit the shape of its first reference.
 */
export function writeGenerateRequest(order: ImageOrder, takesOutputOptions: boolean): JsonBody {
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
      // Without this the models add text, which is billed.
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

/** The vendor's default of 75 would be of lower quality than other vendors' pictures. */
function writeJpeg({ compression = 100 }: ImageOrder): object {
  return { mimeType: "image/jpeg", compressionQuality: compression };
}
