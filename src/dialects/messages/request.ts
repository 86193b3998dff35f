import type { TextPayload, TextRequest, VendorTerms } from "../dialect.ts";
import { splice, type Span } from "../../lib/json.ts";
import { editMembers } from "../../lib/json-edit.ts";
import { InputSize } from "../input-size.ts";
import { readBody, requireModelName } from "../request-body.ts";
import { readFeatures } from "./features.ts";
import { checkFields, checkNames } from "./fields.ts";
import { afterForeignAnswers } from "./foreign-thinking.ts";
import { readReferences } from "./sources.ts";

export interface MessagesRequest extends TextRequest {
  spans: { model: Span | undefined };
}

export type MessagesPayload = TextPayload<MessagesRequest>;

/** Headers that go to vendors of this protocol: they and the fields of the body belong together. */
const FORWARDED_HEADERS = ["anthropic-version", "anthropic-beta"];
/** A server tool may add this many tokens to the prompt, such as the pages it has read. */
const MAX_SERVER_TOOL_TOKENS = 200_000;

/** Reads and checks a request. Throws a `GatewayError` whose message names the field to change. */
export function readRequest(bytes: Uint8Array, headers: Headers): MessagesPayload {
  return read(bytes, headers, { isCount: false });
}

/** The same for a request that only counts its tokens, which needs no `max_tokens`. */
export function readCountRequest(bytes: Uint8Array, headers: Headers): MessagesPayload {
  return read(bytes, headers, { isCount: true });
}

/** The same request, to run or to count, with other text. */
export function withRaw({ headers, parsed }: MessagesPayload, raw: string): MessagesPayload {
  return read(Buffer.from(raw), new Headers(headers), { isCount: parsed.maxTokens === null });
}

/**
 * The text for a vendor of the same dialect: its own model name, nothing of other protocols, everything else as the
 * caller wrote it.
 */
export function forVendor({ raw, parsed }: MessagesPayload, { upstreamModel, traits }: VendorTerms): string {
  const own = afterForeignAnswers(raw, parsed.body, traits);
  if (upstreamModel === parsed.model) return own;
  const name = JSON.stringify(upstreamModel);
  const span = parsed.spans.model;
  return span && own === raw ? splice(raw, [{ span, text: name }]) : editMembers(own, { model: () => name });
}

function read(bytes: Uint8Array, headers: Headers, kind: { isCount: boolean }): MessagesPayload {
  const { raw, body, spans } = readBody(bytes, ["model"]);
  const model = requireModelName(body);
  checkNames(body);
  checkFields(body, kind);
  const size = new InputSize(bytes.length, raw.length);
  const { files, linkParam } = readReferences(body, size);
  const features = [...readFeatures(body), ...files];
  const { inputCeiling, estimatedInput, mediaTokens } = size.tokens;
  const maxTokens = body["max_tokens"];
  return {
    dialect: "messages",
    raw,
    headers: forwardedHeaders(headers),
    parsed: {
      model,
      isStream: body["stream"] === true,
      maxTokens: typeof maxTokens === "number" ? maxTokens : null,
      choices: 1,
      inputCeiling: inputCeiling + (features.length > 0 ? MAX_SERVER_TOOL_TOKENS : 0),
      estimatedInput,
      mediaTokens,
      features,
      linkParam,
      body,
      spans: { model: spans[0] },
    },
  };
}

function forwardedHeaders(headers: Headers): Record<string, string> {
  const forwarded: Record<string, string> = {};
  for (const name of FORWARDED_HEADERS) {
    const value = headers.get(name);
    if (value !== null && value !== "") forwarded[name] = value;
  }
  return forwarded;
}
