import type { TextCall, TextResponse, TextUpstream } from "../../gateway/upstreams.ts";
import { removeMembers } from "../../lib/json-edit.ts";
import { isObject } from "../../lib/json.ts";
import { writeCloudBody } from "../messages-compatible/cloud-body.ts";
import { readMessage } from "../messages-compatible/text.ts";
import { tellingUnknownBetas } from "../messages-compatible/unknown-betas.ts";
import { openEvents, post, requestIdOf } from "../transport/http.ts";
import { JSON_HEADERS } from "../transport/json-call.ts";
import { createVendorErrors } from "../transport/vendor-errors.ts";
import type { SignRequest } from "./authentication.ts";
import { readBedrockFailure } from "./errors.ts";

export interface BedrockConnection {
  baseUrl: string;
  authenticate: SignRequest;
}

/** Claude, called by InvokeModel and InvokeModelWithResponseStream (Amazon Bedrock API reference). */
export function createBedrockText({ baseUrl, authenticate }: BedrockConnection): TextUpstream {
  return {
    dialect: "messages",
    traits: { fetchesNoLinks: true, demandsThinking: true },
    async send(call: TextCall): Promise<TextResponse> {
      const { raw, upstreamModel, isStream, headers, signal } = call;
      const operation = isStream ? "invoke-with-response-stream" : "invoke";
      const url = `${baseUrl}/model/${encodeURIComponent(upstreamModel)}/${operation}`;
      const betas = headers["anthropic-beta"];
      const body = writeCloudBody(raw, { version: VERSION, addressed: ADDRESSED, betas });
      const common = isStream ? STREAM_HEADERS : WHOLE_HEADERS;
      const authenticated = await authenticate({ method: "POST", url, headers: common, body }, signal);
      const [secret = null, ...otherSecrets] = authenticated.secrets;
      const errors = createVendorErrors({ secret, otherSecrets, baseUrl }, readBedrockFailure);
      // Loaded only for streams, because the library for event streams is large and few channels need it.
      const events = isStream ? await import("./events.ts") : null;
      const request = { url, headers: authenticated.headers, body, signal };
      const response = await post(request, tellingUnknownBetas(errors.classify, call));
      const requestId = requestIdOf(response);
      const stream = events && openEvents(response);
      if (stream) return { kind: "stream", stream: events.toServerSentEvents(stream, errors), requestId };
      return { ...withoutOwn(await readMessage(response, errors.classify, signal)), requestId };
    },
  };
}

/** The only protocol version that every model accepts (Claude on Amazon Bedrock). */
const VERSION = "bedrock-2023-05-31";
const ADDRESSED = ["model", "stream"];
const WHOLE_HEADERS = { ...JSON_HEADERS, "content-type": "application/json" };
const STREAM_HEADERS = { ...WHOLE_HEADERS, accept: "application/vnd.amazon.eventstream" };

/** Removes the members that Bedrock adds to the model's response, such as the action of a guardrail. */
function withoutOwn(response: TextResponse): TextResponse {
  if (response.kind !== "whole" || !isObject(response.parsed)) return response;
  const own = Object.keys(response.parsed).filter((name) => name.startsWith("amazon-bedrock-"));
  return own.length === 0 ? response : { kind: "whole", text: removeMembers(response.text, own) };
}
