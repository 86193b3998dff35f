import { GatewayError } from "../../domain/gateway-error.ts";
import type { HttpRoute } from "../routes.ts";

const NOT_STORED = "Responses are not stored here. Keep what you need of them, and send it in `input`.";
const NOT_OFFERED = "This is not offered here. Send the conversation to `POST /v1/responses`.";

/** Refused operations of the responses protocol: on stored responses, and compaction (OpenAI responses reference). */
const OPERATIONS: readonly (readonly [method: "GET" | "POST" | "DELETE", path: string, message: string])[] = [
  ["GET", "/v1/responses/{id}", NOT_STORED],
  ["DELETE", "/v1/responses/{id}", NOT_STORED],
  ["POST", "/v1/responses/{id}/cancel", NOT_STORED],
  ["GET", "/v1/responses/{id}/input_items", NOT_STORED],
  ["POST", "/v1/responses/compact", NOT_OFFERED],
];

/** Returns routes that refuse the `OPERATIONS` with errors of the responses protocol. */
export function storedResponseRoutes(): HttpRoute[] {
  return OPERATIONS.map(([method, path, message]) => ({
    method,
    path,
    name: "responses.stored",
    family: "responses",
    auth: "key",
    scope: "ai:llm",
    handle: () => {
      throw new GatewayError("not_found", message);
    },
  }));
}
