import type { GatewayError } from "../../domain/gateway-error.ts";
import { failedCode, writeError } from "./error.ts";

/** An event of a stream, as text. */
export function frame(type: string, data: string): string {
  return `event: ${type}\ndata: ${data}\n\n`;
}

/**
 * How a stream ends early: `response.failed` where the caller knows of the response, then an `error` event. Official
 * clients read its fields in the event itself or in an `error` object, by their generation, so it has them twice
 * (OpenAI responses reference, streaming events). `number` is the next sequence number.
 */
export function failureFrames(
  error: GatewayError,
  response: Readonly<Record<string, unknown>> | null,
  number: number,
): string {
  const { code, message, param } = error;
  let frames = "";
  if (response) {
    const failed = { ...response, status: "failed", error: { code: failedCode(error), message } };
    const data = JSON.stringify({ type: "response.failed", sequence_number: number, response: failed });
    frames = frame("response.failed", data);
  }
  const event = {
    type: "error",
    sequence_number: response ? number + 1 : number,
    code,
    message,
    param,
    ...writeError(error),
  };
  return frames + frame("error", JSON.stringify(event));
}
