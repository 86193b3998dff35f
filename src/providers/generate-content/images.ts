import type { ImageOrder, ImageReply } from "../../domain/image.ts";
import type { ImageUpstream } from "../../gateway/upstreams.ts";
import type { FairSemaphore } from "../../lib/semaphore.ts";
import { createImageUpstream } from "../images/image-upstream.ts";
import { readImageJson } from "../transport/image-json.ts";
import { send } from "../transport/http.ts";
import { requestIdOf } from "../transport/request-id.ts";
import type { JsonBody } from "../transport/json-body.ts";
import { JSON_HEADERS } from "../transport/json-call.ts";
import { createVendorErrors } from "../transport/vendor-errors.ts";
import { withCredential, type Credential } from "../transport/credential.ts";
import type { GenerateContentConnection } from "./connection.ts";
import { readGoogleFailure } from "./errors.ts";
import { repeatBody } from "./native.ts";
import { readGenerateReply } from "./reply.ts";
import { REFERENCE_FORMATS, writeGenerateRequest } from "./request.ts";

/** Images by `generateContent`, which makes one a call; with `fansOut` several are made by several calls. */
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

/** References too large together get equal shares; those within their share stay as they are. */
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

/** A native request is repeated as it came; its length is known only while it is written. */
function bodyOf(
  order: ImageOrder,
  connection: GenerateContentConnection,
): { body: JsonBody["body"]; headers: Record<string, string> } {
  if (order.native) return { body: repeatBody(order.native, order, connection), headers: {} };
  const { body, byteLength } = writeGenerateRequest(order, connection.takesOutputOptions);
  return { body, headers: { "content-length": String(byteLength) } };
}
