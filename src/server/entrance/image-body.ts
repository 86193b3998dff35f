import { formFields, isKnownField, isPictureField, type ImageField } from "../../dialects/images/index.ts";
import { FAMILIES } from "../../domain/family.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import {
  isStreamedObject,
  JsonSpoolError,
  readSpooledJson,
  type JsonPath,
  type StreamedObject,
} from "../../lib/json-spool.ts";
import { MultipartError, readMultipart, type MultipartPart } from "../../lib/multipart.ts";
import type { Spool } from "../../lib/spool.ts";
import { type BodyLimits, decodedBody, requireJson, requireLength, tooLarge } from "./body.ts";
import type { AuthenticatedExchange } from "../http-exchange.ts";

/** Maximum size of the body before and after decoding. */
const MAX_BYTES = 800 * 1024 * 1024;

/** The spool for the files of a body, and the limits for reading the body. */
export interface BodyDestination {
  limits: BodyLimits;
  spool: Spool;
}

/**
 * Reads the fields of an image request in constant memory. Uploaded files and long strings are written to `spool` while
 * they arrive. Accepts JSON on every route, and forms if `takesForms` is true.
 */
export async function readImageBody(
  exchange: AuthenticatedExchange,
  { limits, spool }: BodyDestination,
  takesForms: boolean,
  reads: (name: string) => boolean = isKnownField,
): Promise<ImageField[]> {
  const { request } = exchange;
  if (!takesForms || !isFormBody(request)) {
    const isPicture = ([name]: JsonPath) => isPictureField(name);
    return Object.entries(await readPictureJson(exchange, { limits, spool }, isPicture));
  }
  requireLength(request, MAX_BYTES);
  const contentType = request.headers.get("content-type") ?? "";
  if (!/;\s*boundary=/i.test(contentType))
    throw malformed("The `Content-Type` of a form needs a `boundary`: let the client library set it.");
  try {
    return await readForm(decodedBody(exchange, limits, MAX_BYTES), contentType, {
      spool,
      reads,
    });
  } catch (error) {
    throw error instanceof MultipartError ? formError(error) : error;
  }
}

export function isFormBody({ headers }: Request): boolean {
  return /^multipart\/form-data\b/i.test(headers.get("content-type") ?? "");
}

/** Reads a JSON object in constant memory. Long strings for which `isPicture` returns true are decoded from base64. */
export async function readPictureJson(
  exchange: AuthenticatedExchange,
  { limits, spool }: BodyDestination,
  isPicture: (path: JsonPath) => boolean,
): Promise<StreamedObject> {
  const { request } = exchange;
  requireJson(request.headers.get("content-type"));
  requireLength(request, MAX_BYTES);
  try {
    const options = { decode: isPicture, maxBodyBytes: MAX_BYTES };
    const value = await readSpooledJson(decodedBody(exchange, limits, MAX_BYTES), spool, options);
    if (isStreamedObject(value)) return value;
  } catch (error) {
    throw error instanceof JsonSpoolError ? jsonError(error, isPicture) : error;
  }
  throw malformed("The request body must be a JSON object.");
}

async function readForm(
  body: AsyncIterable<Uint8Array>,
  contentType: string,
  { spool, reads }: { spool: Spool; reads: (name: string) => boolean },
): Promise<ImageField[]> {
  const parts = await readMultipart(body, contentType, spool, {
    reads,
    decode: isPictureField,
    maxBodyBytes: MAX_BYTES,
  });
  return formFields(parts.map((part) => [part.name, contentOf(part)]));
}

function contentOf(part: MultipartPart): unknown {
  if (part.kind === "skipped") return undefined;
  // HTML forms send an empty part without a file name for an empty file field.
  if (part.kind === "file" && part.fileName === "" && part.byteLength === 0) return "";
  return part.kind === "file" ? part.blob : part.value;
}

function jsonError({ reason, path }: JsonSpoolError, isPicture: (path: JsonPath) => boolean): GatewayError {
  const [name] = path;
  const param = typeof name === "string" ? { param: paramOf(name) } : {};
  switch (reason) {
    case "invalid_json":
      return malformed("The request body is not valid JSON in UTF-8.");
    case "duplicate_key":
      return malformed("The request body names a field twice at its top level.");
    case "too_deep":
      return malformed("The request body is nested more than 128 levels deep.");
    case "too_complex":
      return isPicture(path)
        ? tooManyPictures()
        : malformed("The request body has more values than an image request can need.");
    case "invalid_base64":
      return new GatewayError("invalid_image", "An image is not valid base64.", param);
    case "too_large":
      return isPicture(path)
        ? new GatewayError("invalid_image", "An image may have at most 35 MiB.", param)
        : new GatewayError("invalid_parameter", "A text may have at most 1 MiB.", param);
    case "body_too_large":
      return tooLarge(MAX_BYTES);
  }
}

function formError({ reason, part }: MultipartError): GatewayError {
  const param = part === undefined ? {} : { param: paramOf(part) };
  switch (reason) {
    case "malformed":
      return malformed("The form is malformed or was cut short.");
    case "invalid_text":
      return malformed(`The text of \`${part}\` is not UTF-8.`);
    case "too_many_parts":
      return isPictureField(part)
        ? tooManyPictures()
        : malformed("The form has more parts than an image request can need.");
    case "invalid_base64":
      return new GatewayError("invalid_image", "An image is not valid base64.", param);
    case "too_large":
      return isPictureField(part)
        ? new GatewayError("invalid_image", "An image may have at most 35 MiB.", param)
        : new GatewayError("invalid_parameter", "A text may have at most 1 MiB.", param);
    case "body_too_large":
      return tooLarge(MAX_BYTES);
  }
}

/** Returns the documented name of a picture's field for error messages. Callers may use other names. */
function paramOf(name: string): string {
  return name.startsWith("mask") ? "mask" : isPictureField(name) ? "image" : name;
}

/** Returns the error for more references than any model accepts. It is thrown before the whole body is read. */
function tooManyPictures(): GatewayError {
  const max = Math.max(...Object.values(FAMILIES).map((family) => family.references));
  const message = `An edit takes at most ${max} reference images, on some models fewer.`;
  return new GatewayError("too_many_reference_images", message, { param: "image" });
}

function malformed(message: string): GatewayError {
  return new GatewayError("invalid_request_body", message);
}
