import type { TextResponse, TextCall, TextUpstream } from "../../gateway/ports.ts";
import { isObject } from "../../lib/json.ts";
import { brokenResponse, MAX_TEXT_BYTES, parseResponse, post, readText } from "../transport/http.ts";
import type { Connection } from "./connection.ts";
import { hasError } from "./errors.ts";

/**
 * Chat completions: the request's text goes out unchanged and the answer's comes back unchanged. An error that
 * the vendor puts inside a success is found here; one inside a stream is for the reader of the stream.
 */
export function createTextUpstream(connection: Connection): TextUpstream {
  return {
    dialect: "chat",
    async send({ payload, isStream, signal }: TextCall): Promise<TextResponse> {
      const headers = isStream ? connection.streamHeaders : connection.jsonHeaders;
      const url = connection.urlOf("chat/completions", () => modelOf(payload.raw));
      const request = { url, headers, body: payload.raw, signal };
      const response = await post(request, connection.classify);
      if (isStream && !isJson(response)) return { kind: "stream", stream: openStream(response) };
      return readResponse(response, connection, signal);
    },
  };
}

/** The name in the text itself; the payload's reading has the caller's. */
function modelOf(raw: string): string {
  const body: unknown = JSON.parse(raw);
  return isObject(body) ? String(body["model"]) : "";
}

function isJson(response: Response): boolean {
  return response.headers.get("content-type")?.startsWith("application/json") ?? false;
}

function openStream(response: Response): ReadableStream<Uint8Array<ArrayBuffer>> {
  if (!response.body || response.headers.get("content-length") === "0")
    throw brokenResponse("gave an empty answer");
  return response.body;
}

async function readResponse(
  response: Response,
  connection: Connection,
  signal: AbortSignal,
): Promise<TextResponse> {
  const text = await readText(response, MAX_TEXT_BYTES, signal);
  const parsed = parseResponse(text);
  const { status, headers } = response;
  if (hasError(parsed)) throw connection.classify({ status, headers, bodyText: text });
  if (!isObject(parsed) || !Array.isArray(parsed["choices"])) throw brokenResponse("gave no choices");
  return { kind: "whole", text, parsed };
}
