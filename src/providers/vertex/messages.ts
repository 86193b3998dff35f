import type { TextCall, TextResponse, TextUpstream } from "../../gateway/upstreams.ts";
import { isObject } from "../../lib/json.ts";
import { readTextFailure } from "../generate-content/errors.ts";
import { writeCloudBody } from "../messages-compatible/cloud-body.ts";
import { readMessagesFailure } from "../messages-compatible/errors.ts";
import { readCount, readMessage } from "../messages-compatible/text.ts";
import { tellingUnknownBetas } from "../messages-compatible/unknown-betas.ts";
import { withCredential, type Authenticate, type Credential } from "../transport/credential.ts";
import { type Classify, openEvents, post, requestIdOf } from "../transport/http.ts";
import { JSON_HEADERS } from "../transport/json-call.ts";
import { createVendorErrors, type ReadFailure } from "../transport/vendor-errors.ts";

interface VertexMessagesConnection {
  baseUrl: string;
  /** The part of the address before `/{model}:rawPredict`. */
  modelsUrl: string;
  authenticate: Authenticate;
}

/** Claude, called by `rawPredict` and `streamRawPredict` (Anthropic's SDK for Vertex AI, `client`). */
export function createVertexMessages(connection: VertexMessagesConnection): TextUpstream {
  return {
    dialect: "messages",
    traits: { fetchesNoLinks: true, demandsThinking: true },
    serves: isClaude,
    send: (call) =>
      withCredential(connection.authenticate, call.signal, (credential) =>
        send(call, connection, credential),
      ),
    countTokens: (call) =>
      withCredential(connection.authenticate, call.signal, (credential) =>
        countTokens(call, connection, credential),
      ),
  };
}

/** True for an upstream model of Anthropic. All other models are Google's. */
export function isClaude(upstreamModel: string): boolean {
  return upstreamModel.startsWith("claude-");
}

const VERSION = "vertex-2023-10-16";
const WHOLE_HEADERS = { ...JSON_HEADERS, "content-type": "application/json" };
const STREAM_HEADERS = { ...WHOLE_HEADERS, accept: "text/event-stream" };

async function send(
  call: TextCall,
  { modelsUrl, baseUrl }: VertexMessagesConnection,
  credential: Credential,
): Promise<TextResponse> {
  const { raw, upstreamModel, isStream, headers, signal } = call;
  const classify = tellingUnknownBetas(classifier(baseUrl, credential), call);
  // The ids of dated models contain an `@`. The documented addresses do not encode it.
  const model = encodeURIComponent(upstreamModel).replaceAll("%40", "@");
  const request = {
    url: `${modelsUrl}/${model}:${isStream ? "streamRawPredict" : "rawPredict"}`,
    headers: { ...(isStream ? STREAM_HEADERS : WHOLE_HEADERS), ...betasOf(headers), ...credential.headers },
    body: writeCloudBody(raw, { version: VERSION, addressed: ["model"] }),
    signal,
  };
  const response = await post(request, classify);
  const requestId = requestIdOf(response);
  const stream = isStream ? openEvents(response) : null;
  if (stream) return { kind: "stream", stream, requestId };
  return { ...(await readMessage(response, classify, signal)), requestId };
}

/** Counts tokens. The model is in the body of this call, not in its address. */
async function countTokens(
  call: TextCall,
  { modelsUrl, baseUrl }: VertexMessagesConnection,
  credential: Credential,
): Promise<string> {
  const { raw, headers, signal } = call;
  const request = {
    url: `${modelsUrl}/count-tokens:rawPredict`,
    headers: { ...WHOLE_HEADERS, ...betasOf(headers), ...credential.headers },
    body: writeCloudBody(raw, { version: VERSION, addressed: [] }),
    signal,
  };
  const classify = tellingUnknownBetas(classifier(baseUrl, credential), call);
  return readCount(await post(request, classify), signal);
}

/** Returns the header of beta features. The version is in the body here, not in a header. */
function betasOf(headers: TextCall["headers"]): Record<string, string> {
  const betas = headers["anthropic-beta"];
  return betas === undefined ? {} : { "anthropic-beta": betas };
}

/**
 * Returns the classifier of failures. The vendor errors are made only when a call fails, because each call may have
 * another credential and failures are rare.
 */
function classifier(baseUrl: string, { secret }: Credential): Classify {
  return (response, text) => createVendorErrors({ secret, baseUrl }, readFailure).classify(response, text);
}

/** Reads a failure. Failures of the model itself have Anthropic's format; all other failures have Google's. */
const readFailure: ReadFailure = (body, status) => {
  const { error } = body;
  const isOfModel = body["type"] === "error" || (isObject(error) && typeof error["type"] === "string");
  return isOfModel ? readMessagesFailure(body, status) : readTextFailure(body, status);
};
