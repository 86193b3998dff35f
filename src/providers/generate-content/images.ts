import { repeatRequest } from "../../dialects/native/index.ts";
import type { ImageOrder, ImageReply, ReferenceImage } from "../../domain/image.ts";
import type { ImageUpstream } from "../../gateway/upstreams.ts";
import { writeJson } from "../../lib/json-spool.ts";
import type { FairSemaphore } from "../../lib/semaphore.ts";
import { createImageUpstream } from "../images/image-upstream.ts";
import { followsReference } from "../images/wanted-image.ts";
import { type Credential, withCredential } from "../transport/credential.ts";
import { requestIdOf, send } from "../transport/http.ts";
import { readImageJson } from "../transport/image-json.ts";
import { type JsonBody, writeJsonBody } from "../transport/json-body.ts";
import { JSON_HEADERS } from "../transport/json-call.ts";
import { createVendorErrors } from "../transport/vendor-errors.ts";
import type { GenerateContentConnection } from "./connection.ts";
import { readGoogleFailure } from "./errors.ts";
import { readGenerateReply } from "./reply.ts";

/** Images by `generateContent`. One call makes one image; with `fansOut`, parallel calls make several. */
export function createGenerateContentImages(
  connection: GenerateContentConnection,
  fansOut: boolean,
  codecSlots: FairSemaphore,
): ImageUpstream {
  return createImageUpstream({
    codecSlots,
    rules: (order) => ({ formats: REFERENCE_FORMATS, maxBytes: maxBytesOf(order, connection) }),
    fansOut: () => fansOut,
    generate: (order, signal) =>
      withCredential(connection.authenticate, signal, (credential) =>
        call(order, connection, credential, signal),
      ),
  });
}

/**
 * Returns the maximum bytes of each reference. If all references together are larger than `together`, each reference
 * gets an equal share of `together`.
 */
function maxBytesOf(
  { references }: ImageOrder,
  { maxReferenceBytes: { each, together } }: GenerateContentConnection,
): number {
  const total = references.reduce((sum, { blob }) => sum + blob.size, 0);
  return total <= together ? each : Math.min(each, Math.floor(together / references.length));
}

async function call(
  order: ImageOrder,
  connection: GenerateContentConnection,
  credential: Credential,
  signal: AbortSignal,
): Promise<ImageReply> {
  const errors = createVendorErrors(
    { secret: credential.secret, baseUrl: connection.baseUrl },
    readGoogleFailure,
  );
  const { body, headers } = bodyOf(order, connection);
  const request = {
    url: connection.urlOf(order.upstreamModel, "generateContent"),
    headers: { ...JSON_HEADERS, "content-type": "application/json", ...headers, ...credential.headers },
    body,
    signal,
  };
  const response = await send("POST", request, errors.classify);
  const parsed = await readImageJson(response, order.spool, signal);
  if (parsed["error"] !== undefined) throw errors.classify(response, JSON.stringify(parsed));
  const reply = { ...readGenerateReply(parsed, errors), requestId: requestIdOf(response) };
  if (order.native) return { ...reply, native: parsed };
  return { ...reply, isCompressed: connection.takesOutputOptions && order.format === "jpeg" };
}

/**
 * Returns the body, with a header for its length if the length is known. A native request keeps the caller's body. Its
 * parts on disk are read while it is sent, so its length is not known.
 */
function bodyOf(
  order: ImageOrder,
  connection: GenerateContentConnection,
): { body: JsonBody["body"]; headers: Record<string, string> } {
  const { demandsRoles } = connection;
  if (order.native)
    return { body: writeJson(repeatRequest(order.native, order, { demandsRoles })), headers: {} };
  const { body, byteLength } = writeGenerateRequest(order, connection.takesOutputOptions);
  return { body, headers: { "content-length": String(byteLength) } };
}

/**
 * Writes the request for one picture: the references in order, then the prompt (Gemini API reference,
 * `GenerateContentRequest`). Without an aspect ratio, an edited picture has the shape of its first reference.
 */
function writeGenerateRequest(order: ImageOrder, takesOutputOptions: boolean): JsonBody {
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
      // Without this setting, the models also return text, which is billed.
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
const REFERENCE_FORMATS: readonly ReferenceImage["format"][] = ["png", "jpeg", "webp", "heic", "avif"];

/** Requests JPEG, by default at quality 100: the vendor's default (75) gives worse pictures than other vendors. */
function writeJpeg({ compression = 100 }: ImageOrder): object {
  return { mimeType: "image/jpeg", compressionQuality: compression };
}
