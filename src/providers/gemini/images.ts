import type { ImageOrder, ImageReply } from "../../domain/image.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";
import type { ImageUpstream } from "../../gateway/ports.ts";
import { isObject } from "../../lib/json.ts";
import { createSemaphore } from "../../lib/semaphore.ts";
import { fanOut } from "../images/fan-out.ts";
import { parseResponse, post } from "../transport/http.ts";
import type { JsonBody } from "../transport/json-body.ts";
import { extractImages } from "../transport/extracted-json.ts";
import { fitReferences } from "../images/reference-image.ts";
import type { Credential, GenerateConnection } from "./connection.ts";
import { classifyFailure, type Redaction } from "./errors.ts";
import { keepResponse, repeatBody } from "./native.ts";
import { readReply } from "./reply.ts";
import { REFERENCE_FORMATS, writeRequest } from "./request.ts";

/**
 * Pictures by `generateContent`. The protocol gives one picture a call; with `fansOut` an order for several makes
 * several calls.
 */
export function createImageUpstream(connection: GenerateConnection, fansOut: boolean): ImageUpstream {
  const slots = createSemaphore(CODEC_SLOTS);
  return {
    async generate(order: ImageOrder, signal: AbortSignal): Promise<ImageReply> {
      const rules = { formats: REFERENCE_FORMATS, maxBytes: maxBytesOf(order, connection) };
      const references = await fitReferences(order.references, rules, slots, signal);
      const ready = { ...order, references };
      if (!fansOut) return await generateOnce(ready, connection, signal);
      return await fanOut(order.count, (signal) => generateOnce(ready, connection, signal), signal);
    },
  };
}

/** References of one channel that are encoded anew at once. */
const CODEC_SLOTS = 2;

/** References that are too many bytes together get equal shares; those within their share stay as they are. */
function maxBytesOf({ references }: ImageOrder, { maxReferenceBytes }: GenerateConnection): number {
  const { each, together } = maxReferenceBytes;
  const total = references.reduce((sum, { blob }) => sum + blob.size, 0);
  return total <= together ? each : Math.min(each, Math.floor(together / references.length));
}

async function generateOnce(
  order: ImageOrder,
  connection: GenerateConnection,
  signal: AbortSignal,
): Promise<ImageReply> {
  const credential = await connection.authenticate(signal);
  const redaction = { secret: credential.secret, hostname: connection.hostname };
  try {
    return await call(order, connection, credential, redaction, signal);
  } catch (error) {
    if (error instanceof UpstreamError && error.status === 401) credential.drop?.();
    throw error;
  }
}

async function call(
  order: ImageOrder,
  connection: GenerateConnection,
  credential: Credential,
  redaction: Redaction,
  signal: AbortSignal,
): Promise<ImageReply> {
  const { body, headers } = bodyOf(order, connection);
  const request = {
    url: connection.urlOf(order.upstreamModel),
    headers: { ...FIXED_HEADERS, ...headers, ...credential.headers },
    body,
    signal,
  };
  const response = await post(request, (parsed) => classifyFailure(parsed, redaction));
  const { json, skeleton } = await extractImages(response, order.spool, signal);
  const parsed = parseResponse(skeleton);
  if (isObject(parsed) && parsed["error"] !== undefined)
    throw classifyFailure(
      { status: response.status, headers: response.headers, bodyText: skeleton },
      redaction,
    );
  const reply = readReply(parsed, { json, redaction });
  if (order.native && isObject(parsed)) return { ...reply, native: keepResponse(parsed, json) };
  return { ...reply, isCompressed: connection.takesOutputOptions && order.format === "jpeg" };
}

const FIXED_HEADERS = {
  accept: "application/json",
  "accept-encoding": "identity",
  "content-type": "application/json",
  "user-agent": "model-inference-gateway",
};

/** A caller who speaks the protocol is repeated, in a body whose length shows while it is read. */
function bodyOf(order: ImageOrder, connection: GenerateConnection): Body {
  if (order.native) return { body: repeatBody(order.native, order, connection), headers: {} };
  const { body, byteLength } = writeRequest(order, connection.takesOutputOptions);
  return { body, headers: { "content-length": String(byteLength) } };
}

interface Body {
  body: JsonBody["body"];
  headers: Record<string, string>;
}
